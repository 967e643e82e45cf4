#include "cli/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace teson::cli {
namespace {

constexpr long kConnectSeconds = 5;
constexpr long kAnswerSeconds = 60;
constexpr size_t kLargestAnswer = 64 << 20;

size_t take_body(char* bytes, size_t size, size_t count, void* answer) {
  std::string& body = static_cast<HttpAnswer*>(answer)->body;
  if (body.size() + size * count > kLargestAnswer) return 0;
  body.append(bytes, size * count);
  return size * count;
}

size_t take_header(char* bytes, size_t size, size_t count, void* answer) {
  const std::string_view line(bytes, size * count);
  wire::Headers& headers = static_cast<HttpAnswer*>(answer)->headers;
  if (line.starts_with("HTTP/")) headers.clear();
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    std::string_view value = line.substr(colon + 1);
    while (value.ends_with('\n') || value.ends_with('\r')) value.remove_suffix(1);
    headers.add(std::string(line.substr(0, colon)), std::string(wire::trimmed(value)));
  }
  return size * count;
}

std::string untrusted(std::string_view url, std::string_view detail) {
  const char* authorities = std::getenv("AWS_CA_BUNDLE");
  return fmt::format("the certificate of {} is not trusted: {}. {}", url.substr(0, url.find('/', url.find("://") + 3)),
                     detail,
                     authorities != nullptr && *authorities != '\0'
                         ? fmt::format("Authorities are taken from AWS_CA_BUNDLE, {}", authorities)
                         : "If an authority of your own has signed it, name that one's PEM file in AWS_CA_BUNDLE");
}

}  // namespace

struct HttpConnection::Handle {
  CURL* curl = nullptr;
  char error[CURL_ERROR_SIZE] = {};

  Handle() : curl(curl_easy_init()) { TESON_CHECK(curl != nullptr, "libcurl gave no handle"); }
  ~Handle() { curl_easy_cleanup(curl); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

HttpConnection::HttpConnection() : handle_(std::make_unique<Handle>()) {}
HttpConnection::~HttpConnection() = default;
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;
HttpConnection& HttpConnection::operator=(HttpConnection&&) noexcept = default;

Outcome<HttpAnswer> HttpConnection::get(const std::string& url, const wire::Headers& headers) {
  curl_easy_reset(handle_->curl);
  curl_slist* list = nullptr;
  for (const auto& [name, value] : headers) list = curl_slist_append(list, fmt::format("{}: {}", name, value).c_str());
  curl_easy_setopt(handle_->curl, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(handle_->curl, CURLOPT_HTTPGET, 1L);
  auto answer = perform(url);
  curl_slist_free_all(list);
  return answer;
}

Outcome<HttpAnswer> HttpConnection::post(const std::string& url, const wire::Headers& headers,
                                         const std::string& body) {
  curl_easy_reset(handle_->curl);
  // "Expect: 100-continue" would cost a second where a server does not answer it.
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  for (const auto& [name, value] : headers) list = curl_slist_append(list, fmt::format("{}: {}", name, value).c_str());
  curl_easy_setopt(handle_->curl, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(handle_->curl, CURLOPT_POST, 1L);
  curl_easy_setopt(handle_->curl, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(handle_->curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  auto answer = perform(url);
  curl_slist_free_all(list);
  return answer;
}

Outcome<HttpAnswer> HttpConnection::perform(const std::string& url) {
  CURL* curl = handle_->curl;
  HttpAnswer answer;
  handle_->error[0] = '\0';
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, handle_->error);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kAnswerSeconds);
  // As the AWS clients have it; else the system's authorities. Peer and name are verified, which is curl's default.
  const char* authorities = std::getenv("AWS_CA_BUNDLE");
  if (authorities != nullptr && *authorities != '\0') curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
  // A proxy named in the environment must not see requests to this machine.
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer);
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) {
    const char* detail = handle_->error[0] != '\0' ? handle_->error : curl_easy_strerror(code);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
      return failure(FailureKind::kConfiguration, untrusted(url, detail));
    }
    return failure(FailureKind::kUnreachable, detail, code == CURLE_COULDNT_CONNECT ? "refused" : "");
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  return answer;
}

}  // namespace teson::cli
