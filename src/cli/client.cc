#include "cli/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "cli/text.h"
#include "wire/sigv4.h"
#include "wire/time_text.h"
#include "wire/uri.h"

namespace teson::cli {
namespace {

constexpr size_t kShownOfForeignAnswer = 200;

std::string host_of(const std::string& endpoint) { return endpoint.substr(endpoint.find("://") + 3); }

// Source of the codes: botocore's retry rules.
bool is_throttling(int status, std::string_view code) {
  constexpr std::string_view kCodes[] = {"Throttling",
                                         "ThrottlingException",
                                         "ThrottledException",
                                         "RequestThrottled",
                                         "RequestThrottledException",
                                         "RequestLimitExceeded",
                                         "TooManyRequestsException",
                                         "RequestTimeout",
                                         "RequestTimeoutException"};
  constexpr int kRequestTimeout = 408, kTooManyRequests = 429;
  return status == kRequestTimeout || status == kTooManyRequests ||
         std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

}  // namespace

Instant now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count()};
}

Client::Client(Session session) : session_(std::move(session)) {}

Outcome<Json> Client::batch(std::string_view operation, const Json& request) {
  return call("batch", operation, "/v1/" + wire::lower_case(operation), {{"content-type", "application/json"}},
              request);
}

Outcome<Json> Client::tag(const std::string& arn, const Json& tags) {
  return call("batch", "TagResource", "/v1/tags/" + wire::percent_encode(arn), {{"content-type", "application/json"}},
              Json::object({{"tags", tags}}));
}

Outcome<Json> Client::logs(std::string_view operation, const Json& request) {
  return call(
      "logs", operation, "/",
      {{"content-type", "application/x-amz-json-1.1"}, {"x-amz-target", fmt::format("Logs_20140328.{}", operation)}},
      request);
}

Outcome<Json> Client::users(std::string_view operation, const Json& request) {
  return call("teson", fmt::format("user {}", operation), fmt::format("/teson/v1/users/{}", operation),
              {{"content-type", "application/json"}}, request);
}

Outcome<Json> Client::native_post(const std::string& path, const Json& request) {
  return call("batch", path, path, {{"content-type", "application/json"}}, request);
}

Outcome<Json> Client::call(std::string_view service, std::string_view operation, const std::string& path,
                           wire::Headers headers, const Json& request) {
  const std::string body = json_line(request);
  headers.add("host", host_of(session_.endpoint));
  const wire::Headers whole = signed_headers(service, {"POST", path, "", headers, body});
  return document_of(operation, connection_.post(session_.endpoint + path, whole, body));
}

Outcome<Json> Client::native(const std::string& path, const std::string& query) {
  wire::Headers headers;
  headers.add("host", host_of(session_.endpoint));
  const wire::Headers whole = signed_headers("batch", {"GET", path, query, headers, ""});
  return document_of(path.substr(path.rfind('/') + 1), connection_.get(session_.endpoint + path + "?" + query, whole));
}

wire::Headers Client::signed_headers(std::string_view service, const wire::RequestView& request) const {
  const wire::SigningIdentity identity{session_.keys.access_key_id, session_.keys.secret_access_key, "",
                                       session_.region, service};
  wire::Headers headers = request.headers;
  const wire::Headers signature = wire::sign(request, identity, now());
  for (const wire::Header& header : signature) headers.add(header.name, header.value);
  return headers;
}

Outcome<Json> Client::document_of(std::string_view operation, const Outcome<HttpAnswer>& answer) const {
  if (!answer) return std::unexpected(unreachable(operation, answer.error()));
  if (answer->status < 200 || answer->status > 299) return std::unexpected(service_failure(operation, *answer));
  if (answer->body.empty()) return Json::object();
  Json document = Json::parse(answer->body, nullptr, false);
  if (document.is_discarded()) {
    return std::unexpected(
        Failure{FailureKind::kUnreachable,
                fmt::format("{}: {} answered with something that is not JSON: {}", operation, session_.endpoint,
                            printable(answer->body.substr(0, kShownOfForeignAnswer))),
                "", true});
  }
  return document;
}

Failure Client::unreachable(std::string_view operation, const Failure& cause) const {
  const std::string what = operation.empty() ? std::string() : fmt::format("{}: ", operation);
  if (cause.kind == FailureKind::kConfiguration) return {cause.kind, what + cause.message, "", false};
  if (cause.code != "refused") {
    return {cause.kind, fmt::format("{}{} does not answer: {}", what, session_.endpoint, cause.message), "", true};
  }
  const std::string remedy = session_.by_data_directory ? fmt::format("; start the server with 'teson serve --data {}'",
                                                                      shell_command({session_.data}))
                                                        : "; is the server there running?";
  return {cause.kind, fmt::format("{}nothing listens at {}{}", what, session_.endpoint, remedy), "", true};
}

Outcome<ServerHealth> Client::health() {
  const auto answer = connection_.get(session_.endpoint + "/healthz");
  if (!answer) return std::unexpected(unreachable("", answer.error()));
  if (answer->status != 200) {
    return failure(FailureKind::kUnreachable, fmt::format("{} is not a healthy teson server: /healthz answered {}",
                                                          session_.endpoint, answer->status));
  }
  ServerHealth health;
  health.version = text_field(Json::parse(answer->body, nullptr, false), "version");
  if (const auto date = answer->headers.find("date")) health.date = wire::parse_http_date(*date);
  return health;
}

Failure service_failure(std::string_view operation, const HttpAnswer& answer) {
  const Json body = Json::parse(answer.body, nullptr, false);
  std::string code(answer.headers.get("x-amzn-errortype"));
  if (code.empty()) code = text_field(body, "__type");
  if (code.empty()) code = text_field(body, "code");
  // "com.amazonaws.batch#ClientException:http://..." in all its variants.
  code = code.substr(0, code.find(':'));
  code = code.substr(code.rfind('#') + 1);
  std::string message = text_field(body, "message");
  if (message.empty()) message = text_field(body, "Message");
  if (code.empty()) code = fmt::format("HTTP {}", answer.status);
  if (message.empty()) message = printable(answer.body.substr(0, kShownOfForeignAnswer));
  const bool passing = answer.status >= 500 || is_throttling(answer.status, code);
  return {FailureKind::kService, fmt::format("{}: {}: {}", operation, code, printable(message)), code, passing};
}

}  // namespace teson::cli
