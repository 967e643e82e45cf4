#include "api/logs/service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/try.h"

namespace teson::logs {

struct Service::Operation {
  std::string_view name;
  Answer (Service::*run)(const wire::JsonValue&);
  bool changes;
  // What kConflict means there.
  std::string_view conflict = "ResourceAlreadyExistsException";
};

const Service::Operation* Service::find_operation(std::string_view name) {
  static constexpr bool kReads = false, kChanges = true;
  static constexpr std::string_view kTooManyTags = "TooManyTagsException";
  static constexpr std::array kOperations = {
      Operation{"CreateLogGroup", &Service::create_log_group, kChanges},
      Operation{"DeleteLogGroup", &Service::delete_log_group, kChanges},
      Operation{"DescribeLogGroups", &Service::describe_log_groups, kReads},
      Operation{"PutRetentionPolicy", &Service::put_retention_policy, kChanges},
      Operation{"DeleteRetentionPolicy", &Service::delete_retention_policy, kChanges},
      Operation{"TagResource", &Service::tag_resource, kChanges, kTooManyTags},
      Operation{"UntagResource", &Service::untag_resource, kChanges},
      Operation{"ListTagsForResource", &Service::list_tags_for_resource, kReads},
      // The older tag operations have no error of their own for too many.
      Operation{"TagLogGroup", &Service::tag_log_group, kChanges, "InvalidParameterException"},
      Operation{"UntagLogGroup", &Service::untag_log_group, kChanges},
      Operation{"ListTagsLogGroup", &Service::list_tags_log_group, kReads},
      Operation{"CreateLogStream", &Service::create_log_stream, kChanges},
      Operation{"DeleteLogStream", &Service::delete_log_stream, kChanges},
      Operation{"DescribeLogStreams", &Service::describe_log_streams, kReads},
      Operation{"PutLogEvents", &Service::put_log_events, kChanges},
      Operation{"GetLogEvents", &Service::get_log_events, kReads},
      Operation{"FilterLogEvents", &Service::filter_log_events, kReads},
  };
  const auto found = std::ranges::find(kOperations, name, &Operation::name);
  return found == kOperations.end() ? nullptr : found;
}

namespace {

wire::AwsError aws_error(const Error& error, std::string_view conflict) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
      return wire::client_error("InvalidParameterException", error.message);
    case ErrorKind::kNotFound:
      return wire::client_error("ResourceNotFoundException", error.message);
    case ErrorKind::kConflict:
      return wire::client_error(std::string(conflict), error.message);
    case ErrorKind::kDenied:
      return wire::client_error("InvalidOperationException", error.message);
    case ErrorKind::kUnavailable:
      return wire::server_error("ServiceUnavailableException", error.message, 503);
    case ErrorKind::kIo:
      break;
  }
  return wire::server_error("ServiceUnavailableException", error.message, 500);
}

// For the audit log: the group, and the stream in it.
std::string resource_of(const wire::Json& body) {
  const auto text = [&body](const char* member) {
    const auto found = body.find(member);
    return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string arn = text("resourceArn"), stream = text("logStreamName");
  if (!arn.empty()) return arn;
  return text("logGroupName") + (stream.empty() ? "" : ":" + stream);
}

}  // namespace

Service::Service(std::string data_root, const History& history, LogStore& store, const Clock& clock,
                 LogsSettings settings)
    : data_root_(data_root),
      attempts_(std::move(data_root), history, clock),
      stored_(store, clock),
      clock_(clock),
      settings_(std::move(settings)) {}

std::optional<bool> Service::changes(std::string_view operation) {
  const Operation* known = find_operation(operation);
  return known == nullptr ? std::nullopt : std::optional(known->changes);
}

std::expected<std::string, wire::AwsError> Service::call(std::string_view operation, std::string_view body,
                                                         std::string* touched) {
  const Operation* known = find_operation(operation);
  if (known == nullptr)
    return std::unexpected(wire::client_error(
        "UnknownOperationException",
        fmt::format("The CloudWatch Logs operation '{}' does not exist or is not supported by this server.",
                    operation)));
  const auto parsed = wire::parse_json_object(body);
  if (!parsed) return std::unexpected(wire::client_error("SerializationException", parsed.error().message));
  if (touched) *touched = resource_of(*parsed);
  const auto answer = (this->*known->run)(wire::JsonValue(*parsed, ""));
  if (!answer) return std::unexpected(aws_error(answer.error(), known->conflict));
  return wire::json_text(*answer);
}

Result<std::shared_ptr<const LogGroup>> Service::group_named(const std::string& name) const {
  // Not owned: it lives as long as this.
  if (name == AttemptLogs::kName) return std::shared_ptr<const LogGroup>(std::shared_ptr<void>(), &attempts_);
  TESON_TRY(auto group, stored_.open_group(name));
  if (!group) return no_such_group(name);
  return std::shared_ptr<const LogGroup>(std::move(group));
}

Status Service::expect_clients_group(const std::string& name, std::string_view what) {
  if (name != AttemptLogs::kName) return {};
  return fail(ErrorKind::kDenied, fmt::format("{} is not possible in the log group '{}': it is the jobs' own output, "
                                              "which the server keeps with each attempt. Use a group of your own.",
                                              what, name));
}

// As old as the data directory.
StoredLogGroup Service::attempts_group() const {
  StoredLogGroup group;
  group.name = AttemptLogs::kName;
  struct statx status{};
  if (::statx(AT_FDCWD, data_root_.c_str(), 0, STATX_BTIME | STATX_MTIME, &status) == 0) {
    const auto& time = (status.stx_mask & STATX_BTIME) != 0 ? status.stx_btime : status.stx_mtime;
    group.created = Instant{time.tv_sec * 1'000'000 + time.tv_nsec / 1'000};
  }
  group.stored_bytes = attempts_.stored_bytes();
  return group;
}

}  // namespace teson::logs
