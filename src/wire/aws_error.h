// AWS's error answers: one value, three renderings. Pure; any thread.
//
// Source: botocore's parsers (what clients read) and the Smithy specs of restJson1, awsJson1_1 and S3's restXml.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/headers.h"
#include "wire/sigv4.h"

namespace teson::wire {

enum class Fault { kClient, kServer };

struct AwsError {
  int status = 400;
  std::string code;     // "ClientException"; clients branch on it
  std::string message;  // for people
  Fault fault = Fault::kClient;
};

enum class Protocol { kRestJson, kJson11, kS3Xml };

struct RenderedError {
  int status = 400;
  Headers headers;  // content-type, x-amzn-errortype; not the request id, which every response has
  std::string body;
};

// `resource`: S3's <Resource>, the path asked for; other protocols ignore it.
RenderedError render_error(const AwsError& error, Protocol protocol, std::string_view request_id,
                           std::string_view resource = {});

AwsError client_error(std::string code, std::string message, int status = 400);
AwsError server_error(std::string code, std::string message, int status = 500);
// AccessDeniedException, 403: the signature is right, but this user may not.
AwsError access_denied(std::string message);

// A refused signature as the services of that protocol name it (403; S3 has codes of its own).
AwsError auth_error(const AuthError& error, Protocol protocol);

// AWS Batch's two shapes: ClientException (400) for what the caller can put right, ServerException (500) for the rest;
// and what every service of AWS says where a user may not (kDenied).
AwsError batch_error(const Error& error);

// No such operation: 404 for REST, 400 for JSON 1.1.
AwsError unknown_operation(Protocol protocol);

// Text in XML content and attributes; characters that XML 1.0 cannot hold become U+FFFD.
std::string xml_escape(std::string_view text);

}  // namespace teson::wire
