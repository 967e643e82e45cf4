#include "api/http/tls_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace teson::http {

struct TlsStream::Impl {
  Impl(asio::ip::tcp::socket& socket, asio::ssl::context& context) : stream(socket, context) {}
  asio::ssl::stream<asio::ip::tcp::socket&> stream;  // holds OpenSSL's context by count
};

TlsStream::TlsStream(asio::ip::tcp::socket& socket, const Tls& tls)
    : impl_(std::make_unique<Impl>(socket, *tls.context())) {}
TlsStream::~TlsStream() = default;

asio::awaitable<void> TlsStream::handshake(error_code& error) {
  co_await impl_->stream.async_handshake(asio::ssl::stream_base::server,
                                         asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<size_t> TlsStream::read_some(asio::mutable_buffer buffer, error_code& error) {
  co_return co_await impl_->stream.async_read_some(buffer, asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> TlsStream::write(std::array<asio::const_buffer, 2> parts, error_code& error) {
  co_await asio::async_write(impl_->stream, parts, asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> TlsStream::shutdown(error_code& error) {
  co_await impl_->stream.async_shutdown(asio::redirect_error(asio::use_awaitable, error));
}

bool TlsStream::was_plain_http(const error_code& error) {
  return error.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
}

}  // namespace teson::http
