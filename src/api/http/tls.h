// The server's certificate and key: TLS 1.2 and later, forward secrecy only. Neither Asio nor OpenSSL shows through.
//
// Thread: any. Failure: kInvalid or an errno's kind, with the path and OpenSSL's own word; never asks for a passphrase.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace boost::asio::ssl {
class context;
}

namespace teson::http {

struct TlsFiles {
  std::string certificate;  // PEM: the server's own first, then the authorities between it and the root
  std::string key;          // PEM, without a passphrase
};

class Tls {
 public:
  using Context = std::shared_ptr<boost::asio::ssl::context>;

  static Result<std::shared_ptr<Tls>> load(TlsFiles files);
  // Reads both files again. On a failure the former ones stay in use. Connections keep what they began with.
  Status reload();
  Context context() const;
  // What to call this server in a URL: `host` if the certificate is for it, else the certificate's first DNS name
  // without a wildcard, else `host` all the same.
  std::string name_for(const std::string& host) const;

 private:
  Tls(TlsFiles files, Context context) : files_(std::move(files)), context_(std::move(context)) {}

  const TlsFiles files_;
  mutable std::mutex mutex_;
  Context context_;
};

}  // namespace teson::http
