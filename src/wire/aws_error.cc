#include "wire/aws_error.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace teson::wire {
namespace {

std::string json_text(const nlohmann::json& value) {
  // A message may quote what a client sent; bytes that are not UTF-8 are replaced rather than thrown on.
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

AwsError s3_auth_error(const AuthError& error) {
  switch (error.kind) {
    case AuthErrorKind::kMissingToken:
      return client_error("AccessDenied", "Access Denied", 403);
    case AuthErrorKind::kIncomplete:
      return client_error("AuthorizationHeaderMalformed", error.message, 400);
    case AuthErrorKind::kUnknownKey:
      return client_error("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.",
                          403);
    case AuthErrorKind::kMismatch:
      return client_error("SignatureDoesNotMatch", error.message, 403);
    case AuthErrorKind::kExpired:
      return error.message.starts_with("Request has expired")
                 ? client_error("AccessDenied", error.message, 403)
                 : client_error("RequestTimeTooSkewed", error.message, 403);
    case AuthErrorKind::kPayloadMismatch:
      return client_error("XAmzContentSHA256Mismatch", error.message, 400);
  }
  return server_error("InternalError", "unknown authentication failure");
}

std::string_view json_auth_code(AuthErrorKind kind) {
  switch (kind) {
    case AuthErrorKind::kMissingToken:
      return "MissingAuthenticationTokenException";
    case AuthErrorKind::kIncomplete:
      return "IncompleteSignatureException";
    case AuthErrorKind::kUnknownKey:
      return "UnrecognizedClientException";
    case AuthErrorKind::kMismatch:
    case AuthErrorKind::kExpired:
    case AuthErrorKind::kPayloadMismatch:
      break;
  }
  return "InvalidSignatureException";
}

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20 && c != '\t' && c != '\n') {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

RenderedError render_error(const AwsError& error, Protocol protocol, std::string_view request_id,
                           std::string_view resource) {
  RenderedError out;
  out.status = error.status;
  switch (protocol) {
    case Protocol::kRestJson:
      out.headers.add("Content-Type", "application/json");
      out.headers.add("x-amzn-ErrorType", error.code);
      out.body = json_text({{"message", error.message}});
      break;
    case Protocol::kJson11:
      out.headers.add("Content-Type", "application/x-amz-json-1.1");
      out.body = json_text({{"__type", error.code}, {"message", error.message}});
      break;
    case Protocol::kS3Xml:
      out.headers.add("Content-Type", "application/xml");
      out.body = fmt::format(
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{}</Code><Message>{}</Message>"
          "<Resource>{}</Resource><RequestId>{}</RequestId></Error>",
          xml_escape(error.code), xml_escape(error.message), xml_escape(resource), xml_escape(request_id));
      break;
  }
  return out;
}

AwsError client_error(std::string code, std::string message, int status) {
  return {status, std::move(code), std::move(message), Fault::kClient};
}

AwsError access_denied(std::string message) { return client_error("AccessDeniedException", std::move(message), 403); }

AwsError server_error(std::string code, std::string message, int status) {
  return {status, std::move(code), std::move(message), Fault::kServer};
}

AwsError auth_error(const AuthError& error, Protocol protocol) {
  if (protocol == Protocol::kS3Xml) return s3_auth_error(error);
  return client_error(std::string(json_auth_code(error.kind)), error.message, 403);
}

AwsError batch_error(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
    case ErrorKind::kNotFound:
    case ErrorKind::kConflict:
      return client_error("ClientException", error.message);
    case ErrorKind::kDenied:
      return access_denied(error.message);
    case ErrorKind::kUnavailable:
    case ErrorKind::kIo:
      break;
  }
  return server_error("ServerException", error.message);
}

AwsError unknown_operation(Protocol protocol) {
  switch (protocol) {
    case Protocol::kJson11:
      return client_error("UnknownOperationException",
                          "The operation named in X-Amz-Target is not served here: this version of teson serves AWS "
                          "Batch and CloudWatch Logs.",
                          400);
    case Protocol::kRestJson:
      return client_error(
          "UnknownOperationException",
          "No operation has this method and path: this version of teson serves AWS Batch and CloudWatch "
          "Logs.",
          404);
    case Protocol::kS3Xml:
      break;
  }
  return client_error("MethodNotAllowed", "The specified method is not allowed against this resource.", 405);
}

}  // namespace teson::wire
