// The server as an AWS client sees it: signed Batch (REST-JSON) and Logs (JSON 1.1) calls.
//
// Thread: one at a time. Failure: kService with "<Operation>: <Code>: <message>" and the code where the server said no;
// kUnreachable where nothing answered or it was not our server. Each says whether it may pass (failure.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/failure.h"
#include "cli/http.h"
#include "cli/json_access.h"
#include "cli/session.h"
#include "wire/sigv4.h"

namespace teson::cli {

struct ServerHealth {
  std::string version;          // empty: it does not say
  std::optional<Instant> date;  // its clock, whole seconds
};

class Client {
 public:
  explicit Client(Session session);

  Outcome<Json> batch(std::string_view operation, const Json& request);
  // TagResource: adds to the tags of what `arn` names, or changes them. `tags` is an object of strings.
  Outcome<Json> tag(const std::string& arn, const Json& tags);
  Outcome<Json> logs(std::string_view operation, const Json& request);
  // teson's own: /teson/v1/users/<operation>.
  Outcome<Json> users(std::string_view operation, const Json& request);
  // GET of what is ours and not AWS's: "/teson/v1/explain" with "job=ID", already encoded.
  Outcome<Json> native(const std::string& path, const std::string& query);
  // POST of what is ours: "/teson/v1/interrupt".
  Outcome<Json> native_post(const std::string& path, const Json& request);
  // Unsigned: /healthz.
  Outcome<ServerHealth> health();

  const Session& session() const { return session_; }

 private:
  Outcome<Json> call(std::string_view service, std::string_view operation, const std::string& path,
                     wire::Headers headers, const Json& request);
  wire::Headers signed_headers(std::string_view service, const wire::RequestView& request) const;
  Outcome<Json> document_of(std::string_view operation, const Outcome<HttpAnswer>& answer) const;
  Failure unreachable(std::string_view operation, const Failure& cause) const;

  Session session_;
  HttpConnection connection_;
};

// What the server said, out of an answer of status 300 and above: header x-amzn-errortype, body's __type or code,
// message. It may pass if it is the server's fault (5xx) or it is throttling; a refusal (4xx) stays one.
Failure service_failure(std::string_view operation, const HttpAnswer& answer);

Instant now();

}  // namespace teson::cli
