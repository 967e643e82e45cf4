#include "api/http/router.h"

#include <spdlog/spdlog.h>

#include "base/check.h"

namespace teson::http {
namespace {

// "/a/b" gives {"a", "b"}; "/" gives {""}; "/a/" gives {"a", ""}.
std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> out;
  if (path.starts_with('/')) path.remove_prefix(1);
  for (;;) {
    const size_t end = std::min(path.find('/'), path.size());
    out.push_back(path.substr(0, end));
    if (end == path.size()) return out;
    path.remove_prefix(end + 1);
  }
}

std::string decoded(std::string_view segment) { return wire::percent_decode(segment).value_or(std::string(segment)); }

// The operation as far as an unproved request tells it.
std::string shown_operation(const Request& request) {
  constexpr size_t kLongest = 128;
  const std::string text = request.operation.empty() ? request.method + " " + request.path : request.operation;
  return text.substr(0, kLongest);
}

// "ok", or the code that the client was told: in a header for REST, in the body's __type for JSON 1.1.
std::string outcome_of(const Response& response) {
  if (response.status < 300) return "ok";
  if (const auto code = response.headers.find("x-amzn-errortype")) return std::string(*code);
  constexpr std::string_view kType = "\"__type\":\"";
  const size_t at = response.body.find(kType);
  if (at == std::string::npos) return std::to_string(response.status);
  const size_t begin = at + kType.size();
  return response.body.substr(begin, response.body.find('"', begin) - begin);
}

}  // namespace

void Router::add(std::string method, std::string_view pattern, Handler& handler, Access access,
                 wire::Protocol protocol) {
  TESON_CHECK(pattern.starts_with('/'), "a route's pattern starts with '/'");
  Route route{std::move(method), {}, &handler, access, protocol};
  for (std::string_view piece : split(pattern)) {
    TESON_CHECK(route.segments.empty() || route.segments.back().kind != Segment::Kind::kRest,
                "a {name+} parameter must come last");
    if (!piece.starts_with('{')) {
      route.segments.push_back({Segment::Kind::kLiteral, std::string(piece)});
      continue;
    }
    TESON_CHECK(piece.size() > 2 && piece.ends_with('}'), "a parameter is written {name} or {name+}");
    piece = piece.substr(1, piece.size() - 2);
    const bool rest = piece.ends_with('+');
    if (rest) piece.remove_suffix(1);
    route.segments.push_back({rest ? Segment::Kind::kRest : Segment::Kind::kParameter, std::string(piece)});
  }
  routes_.push_back(std::move(route));
}

void Router::add_target(std::string prefix, Handler& handler) {
  TESON_CHECK(!prefix.empty(), "a target prefix is not empty");
  targets_.push_back({std::move(prefix), &handler});
}

bool Router::matches(const Route& route, const std::vector<std::string_view>& segments, Parameters& parameters) {
  parameters.clear();
  for (size_t i = 0; i < route.segments.size(); ++i) {
    const Segment& wanted = route.segments[i];
    if (i >= segments.size()) return false;
    switch (wanted.kind) {
      case Segment::Kind::kLiteral:
        if (segments[i] != wanted.text && decoded(segments[i]) != wanted.text) return false;
        break;
      case Segment::Kind::kParameter:
        if (segments[i].empty()) return false;
        parameters.emplace_back(wanted.text, decoded(segments[i]));
        break;
      case Segment::Kind::kRest: {
        const char* begin = segments[i].data();
        const char* end = segments.back().data() + segments.back().size();
        parameters.emplace_back(wanted.text, decoded({begin, static_cast<size_t>(end - begin)}));
        return true;
      }
    }
  }
  return segments.size() == route.segments.size();
}

const Router::Route* Router::find_route(const Request& request, Parameters& parameters) const {
  const std::vector<std::string_view> segments = split(request.path);
  const Route* best = nullptr;
  for (const Route& route : routes_) {
    const bool method_fits = route.method == request.method || (route.method == "GET" && request.method == "HEAD");
    Parameters found;
    if (!method_fits || !matches(route, segments, found)) continue;
    // Fewer parameters are a closer match; {name+} counts once, so that {name} beats it only by being first.
    if (best == nullptr || found.size() < parameters.size()) {
      best = &route;
      parameters = std::move(found);
    }
    if (parameters.empty()) break;
  }
  return best;
}

const Router::Target* Router::find_target(const Request& request) const {
  if (request.method != "POST" || request.path != "/") return nullptr;
  const std::string_view named = request.headers.get("x-amz-target");
  const Target* best = nullptr;
  for (const Target& target : targets_) {
    if (named.starts_with(target.prefix) && (best == nullptr || target.prefix.size() > best->prefix.size())) {
      best = &target;
    }
  }
  return best;
}

void Router::refuse_signature(const Request& request, const Reply& reply, const wire::AuthError& error) const {
  // The message may quote header names and dates, never a secret or a signature.
  spdlog::debug("{} {} from {} refused: {}", request.method, request.path, request.remote, error.message);
  const wire::AwsError answer = wire::auth_error(error, request.protocol);
  if (audit_) {
    audit_->record(
        {authenticator_.wall(), "", error.access_key_id, shown_operation(request), "", answer.code, request.remote});
  }
  reply(error_response(request, answer));
}

bool Router::authorize(Request& request, Reply& reply, const Action& action) const {
  const bool permitted = is_permitted(request.caller.role, action.need);
  if (audit_ && (!permitted || (action.changes && action.need != Need::kRead))) {
    request.touched = std::make_shared<std::string>();
    AuditRecord record{authenticator_.wall(), request.caller.name, request.access_key_id, action.name, "", "",
                       request.remote};
    reply = [sink = audit_, record = std::move(record), resource = request.touched,
             answer = std::move(reply)](Response response) {
      AuditRecord done = record;
      done.resource = *resource;
      done.outcome = outcome_of(response);
      // Before the answer: whoever has it finds the record on its way.
      sink->record(std::move(done));
      answer(std::move(response));
    };
  }
  if (permitted) return true;
  reply(error_response(request, wire::access_denied(refusal(request.caller, action))));
  return false;
}

void Router::handle(Request request, Reply reply) {
  Handler* handler = nullptr;
  Access access = Access::kSigned;
  request.protocol = guess_protocol(request.headers);
  if (const Target* target = find_target(request)) {
    handler = target->handler;
    request.protocol = wire::Protocol::kJson11;
    request.operation = std::string(request.headers.get("x-amz-target").substr(target->prefix.size()));
  } else if (const Route* route = find_route(request, request.path_parameters)) {
    handler = route->handler;
    access = route->access;
    request.protocol = route->protocol;
  }
  if (access == Access::kSigned) {
    std::expected<Authenticated, wire::AuthError> verified = authenticator_.authenticate(request);
    if (!verified) return refuse_signature(request, reply, verified.error());
    request.access_key_id = std::move(verified->access_key_id);
    request.caller = std::move(verified->caller);
  }
  if (handler == nullptr) {
    reply(error_response(request, wire::unknown_operation(request.protocol)));
    return;
  }
  if (access == Access::kSigned && !authorize(request, reply, handler->action(request))) return;
  handler->handle(std::move(request), std::move(reply));
}

}  // namespace teson::http
