// What services see of HTTP: plain requests, plain responses, and a callback to answer with. No network types.
//
// Thread: handle() runs on one of the server's threads and must not block; the Reply may be called from any thread,
// once, at any later time (a second call is ignored). If every copy of the Reply is destroyed without a call, the
// client gets 500. After the server stopped, calling a Reply is harmless.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/http/caller.h"
#include "base/result.h"
#include "wire/aws_error.h"
#include "wire/headers.h"
#include "wire/uri.h"

namespace teson::http {

struct Request {
  std::string method;                       // "POST", as sent
  std::string path;                         // as sent, still percent-encoded, without the query: what was signed
  std::string raw_query;                    // as sent, without '?'
  std::vector<wire::QueryParameter> query;  // decoded, in order
  wire::Headers headers;
  std::string body;
  std::string remote;         // "127.0.0.1:51234"
  std::string request_id;     // a UUID; also in the response
  std::string access_key_id;  // who signed; empty on a public route

  // Set by the router.
  Caller caller{"", Role::kReadOnly};      // whose key it is
  std::shared_ptr<std::string> touched{};  // where the audit log's `resource` is written; null: it is not logged
  std::vector<std::pair<std::string, std::string>> path_parameters;  // decoded
  std::string operation;                                             // what follows the target prefix: "GetLogEvents"
  wire::Protocol protocol = wire::Protocol::kRestJson;

  // "" if absent.
  std::string_view path_parameter(std::string_view name) const;
  std::optional<std::string_view> query_parameter(std::string_view name) const;
  // What the request is about, for the audit log: an id, a name. Before the reply only.
  void touches(std::string_view resource) const;
};

struct Response {
  int status = 200;
  wire::Headers headers;  // content-length, date, connection and x-amzn-requestid are the server's business
  std::string body;
};

using Reply = std::function<void(Response)>;

class Handler {
 public:
  virtual ~Handler() = default;
  virtual void handle(Request request, Reply reply) = 0;
  // What the request asks for and who may. Asked before handle(), on signed routes. An operation that the handler does
  // not know needs nothing: it is refused as unknown.
  virtual Action action(const Request& request) const;
};

// For handlers that are a function.
class FunctionHandler final : public Handler {
 public:
  using Function = std::function<void(Request, Reply)>;
  explicit FunctionHandler(Function function) : function_(std::move(function)) {}
  void handle(Request request, Reply reply) override { function_(std::move(request), std::move(reply)); }

 private:
  Function function_;
};

// 200 with the content type of the protocol.
Response json_response(const Request& request, std::string body);
// The error as the request's protocol writes it.
Response error_response(const Request& request, const wire::AwsError& error);
// The protocol that a request speaks, told by its headers alone: for errors met before it is routed.
wire::Protocol guess_protocol(const wire::Headers& headers);

// "200 OK"'s second half; "Unknown" for a code without a name.
std::string_view reason_phrase(int status);

// Splits a request target ("/v1/x?y=1" or "http://host/v1/x?y=1") and fills path, raw_query and query. Refuses other
// forms, control characters, fragments and percent-encoding that does not decode.
Status set_target(Request& request, std::string_view target);

}  // namespace teson::http
