// Which service answers: routes by method and path (REST) or by the X-Amz-Target header (JSON 1.1), after the
// signature of every route that is not public has been verified and its user's role has been found to be enough.
//
// Register everything before the server starts; then handle() is safe on any thread. Handlers and the authenticator
// must outlive the router. An unknown operation is only named as such to someone who signed the question.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/http/auth.h"
#include "api/http/caller.h"
#include "api/http/http.h"

namespace teson::http {

enum class Access { kSigned, kPublic };

class Router final : public Handler {
 public:
  // `audit`, if given, hears of every request that changes something and of every refused one; it must outlive this.
  explicit Router(const Authenticator& authenticator, AuditSink* audit = nullptr)
      : authenticator_(authenticator), audit_(audit) {}

  // `pattern`: literal segments and parameters: "/v1/tags/{resourceArn}" takes one segment, "{key+}" as the last takes
  // all that is left. Literal beats parameter; the first registered wins among equals. GET answers HEAD as well.
  // Aborts on a malformed pattern: that is a mistake in our own code.
  void add(std::string method, std::string_view pattern, Handler& handler, Access access = Access::kSigned,
           wire::Protocol protocol = wire::Protocol::kRestJson);
  // POST / with "X-Amz-Target: <prefix><operation>", e.g. prefix "Logs_20140328."; Request::operation is the rest. The
  // handler answers wire::unknown_operation(kJson11) for operations that it does not know.
  void add_target(std::string prefix, Handler& handler);

  void handle(Request request, Reply reply) override;

 private:
  struct Segment {
    enum class Kind { kLiteral, kParameter, kRest } kind = Kind::kLiteral;
    std::string text;  // decoded literal, or the parameter's name
  };
  struct Route {
    std::string method;
    std::vector<Segment> segments;
    Handler* handler = nullptr;
    Access access = Access::kSigned;
    wire::Protocol protocol = wire::Protocol::kRestJson;
  };
  struct Target {
    std::string prefix;
    Handler* handler = nullptr;
  };
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  static bool matches(const Route& route, const std::vector<std::string_view>& segments, Parameters& parameters);
  const Route* find_route(const Request& request, Parameters& parameters) const;
  const Target* find_target(const Request& request) const;
  void refuse_signature(const Request& request, const Reply& reply, const wire::AuthError& error) const;
  // False: it is refused, and answered.
  bool authorize(Request& request, Reply& reply, const Action& action) const;

  const Authenticator& authenticator_;
  AuditSink* audit_;
  std::vector<Route> routes_;
  std::vector<Target> targets_;
};

}  // namespace teson::http
