// One HTTP connection, kept alive over many requests.
//
// Thread: one at a time. Failure: kUnreachable, with the reason in words. Limits: an answer of 64 MiB, 5 s to connect,
// 60 s for an answer.
#pragma once

#include <memory>
#include <string>

#include "cli/failure.h"
#include "wire/headers.h"

namespace teson::cli {

struct HttpAnswer {
  int status = 0;
  wire::Headers headers;
  std::string body;
};

class HttpConnection {
 public:
  HttpConnection();
  ~HttpConnection();
  HttpConnection(HttpConnection&&) noexcept;
  HttpConnection& operator=(HttpConnection&&) noexcept;

  Outcome<HttpAnswer> get(const std::string& url, const wire::Headers& headers = {});
  Outcome<HttpAnswer> post(const std::string& url, const wire::Headers& headers, const std::string& body);

 private:
  struct Handle;
  Outcome<HttpAnswer> perform(const std::string& url);

  std::unique_ptr<Handle> handle_;
};

}  // namespace teson::cli
