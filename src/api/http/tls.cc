#include "api/http/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio/ssl/context.hpp>

#include "base/try.h"

namespace teson::http {
namespace {

namespace ssl = boost::asio::ssl;

std::string openssl_word() {
  const unsigned long code = ERR_peek_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "it cannot be used" : reason;
}

std::unexpected<Error> wrong(const char* what, const std::string& path, const char* right) {
  return invalid(fmt::format("TLS: {} '{}': {}; {}", what, path, openssl_word(), right));
}

Status readable(const char* what, const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0) return {};
  return errno_error(fmt::format("TLS: cannot read the {} '{}'", what, path));
}

// Never the terminal: a server that waits there for a passphrase looks like one that hangs.
int no_passphrase(char*, int, int, void*) { return -1; }

void warn_of_its_time(SSL_CTX* context, const std::string& path) {
  const X509* certificate = SSL_CTX_get0_certificate(context);
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
    spdlog::warn("TLS: the certificate '{}' has expired: clients will refuse it", path);
  }
}

void restrict(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_PRIORITIZE_CHACHA);
  // Of 1.2 only what has forward secrecy and authenticates as it encrypts; 1.3 has nothing else.
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL");
  // An idle connection keeps no buffers; sessions live in the clients' tickets.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

Result<Tls::Context> make_context(const TlsFiles& files) {
  TESON_TRY_STATUS(readable("certificate", files.certificate));
  TESON_TRY_STATUS(readable("key", files.key));
  auto out = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* context = out->native_handle();
  ERR_clear_error();
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return wrong("the certificate", files.certificate, "it must be a PEM file, the server's own certificate first");
  }
  // Judged here and not while it is read, so that the message can say which of the two does not fit.
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return wrong("the key", files.key,
                 fmt::format("it must be a PEM file without a passphrase, the key of '{}'", files.certificate).c_str());
  }
  restrict(context);
  warn_of_its_time(context, files.certificate);
  return out;
}

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

std::string first_dns_name(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const ASN1_IA5STRING* text = name->d.dNSName;
    std::string out(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                    static_cast<size_t>(ASN1_STRING_length(text)));
    if (!out.empty() && out.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") ==
                            std::string::npos) {
      return out;
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Tls>> Tls::load(TlsFiles files) {
  try {
    TESON_TRY(Context context, make_context(files));
    return std::shared_ptr<Tls>(new Tls(std::move(files), std::move(context)));
  } catch (const std::exception& error) {
    return fail(ErrorKind::kIo, fmt::format("TLS: OpenSSL cannot be set up: {}", error.what()));
  }
}

Status Tls::reload() {
  try {
    TESON_TRY(Context fresh, make_context(files_));
    const std::lock_guard lock(mutex_);
    context_ = std::move(fresh);
    return {};
  } catch (const std::exception& error) {
    return fail(ErrorKind::kIo, fmt::format("TLS: OpenSSL cannot be set up: {}", error.what()));
  }
}

Tls::Context Tls::context() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

std::string Tls::name_for(const std::string& host) const {
  const Context context = this->context();
  X509* certificate = SSL_CTX_get0_certificate(context->native_handle());
  if (X509_check_ip_asc(certificate, host.c_str(), 0) == 1) return host;
  if (X509_check_host(certificate, host.c_str(), host.size(), 0, nullptr) == 1) return host;
  const std::string name = first_dns_name(certificate);
  return name.empty() ? host : name;
}

}  // namespace teson::http
