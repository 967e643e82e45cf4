#include "api/http/http.h"

#include <fmt/format.h>

#include <algorithm>

namespace teson::http {
namespace {

std::string_view without_authority(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() < scheme.size() || !wire::equal_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    return target.substr(std::min(target.find_first_of("/?"), target.size()));
  }
  return target;
}

}  // namespace

std::string_view Request::path_parameter(std::string_view name) const {
  for (const auto& [key, value] : path_parameters) {
    if (key == name) return value;
  }
  return {};
}

void Request::touches(std::string_view resource) const {
  constexpr size_t kLongest = 256;
  if (touched) *touched = resource.substr(0, kLongest);
}

Action Handler::action(const Request& request) const { return {request.method + " " + request.path, Need::kAdmin}; }

std::optional<std::string_view> Request::query_parameter(std::string_view name) const {
  for (const wire::QueryParameter& parameter : query) {
    if (parameter.name == name) return parameter.value;
  }
  return std::nullopt;
}

Response json_response(const Request& request, std::string body) {
  const bool json11 = request.protocol == wire::Protocol::kJson11;
  return {200, {{"Content-Type", json11 ? "application/x-amz-json-1.1" : "application/json"}}, std::move(body)};
}

Response error_response(const Request& request, const wire::AwsError& error) {
  wire::RenderedError rendered = wire::render_error(error, request.protocol, request.request_id, request.path);
  return {rendered.status, std::move(rendered.headers), std::move(rendered.body)};
}

wire::Protocol guess_protocol(const wire::Headers& headers) {
  if (headers.find("x-amz-target")) return wire::Protocol::kJson11;
  return wire::Protocol::kRestJson;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

Status set_target(Request& request, std::string_view target) {
  const std::string_view rest = without_authority(target);
  const bool had_authority = rest.size() != target.size();
  if (!rest.starts_with('/') && !(had_authority && (rest.empty() || rest.front() == '?'))) {
    return invalid("The request target must be a path that starts with '/'.");
  }
  const auto is_bad = [](char c) { return static_cast<uint8_t>(c) <= 0x20 || c == 0x7F || c == '#'; };
  if (std::any_of(rest.begin(), rest.end(), is_bad)) {
    return invalid("The request target holds a blank, a control character or '#'; these must be percent-encoded.");
  }
  const size_t question = std::min(rest.find('?'), rest.size());
  request.path = question == 0 ? "/" : rest.substr(0, question);
  request.raw_query = rest.substr(std::min(question + 1, rest.size()));
  if (const Result<std::string> decoded = wire::percent_decode(request.path); !decoded) {
    return invalid(fmt::format("The path is malformed: {}.", decoded.error().message));
  }
  Result<std::vector<wire::QueryParameter>> query = wire::parse_query(request.raw_query);
  if (!query) return invalid(fmt::format("The query string is malformed: {}.", query.error().message));
  request.query = std::move(*query);
  return {};
}

}  // namespace teson::http
