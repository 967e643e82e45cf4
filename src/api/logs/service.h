// Amazon CloudWatch Logs [API of 2014-03-28] without HTTP: an operation's JSON in, its JSON or an AWS error out.
//
// Thread: any, concurrently. Blocks on files and the store: worker threads only. To add an operation: a member here, a
// line in service.cc's table, and tests.
#pragma once

#include <expected>
#include <mutex>
#include <string>
#include <string_view>

#include "api/logs/attempt_logs.h"
#include "api/logs/parameters.h"
#include "api/logs/stored_logs.h"
#include "wire/aws_error.h"
#include "wire/json.h"

namespace teson::logs {

class Service {
 public:
  // `history`, `store` and `clock` must outlive this.
  Service(std::string data_root, const History& history, LogStore& store, const Clock& clock, LogsSettings settings);

  // The answer's JSON text. `touched`, if given, becomes the name of what the request is about.
  std::expected<std::string, wire::AwsError> call(std::string_view operation, std::string_view body,
                                                  std::string* touched = nullptr);
  // Whether the operation changes something; nullopt: there is no such operation.
  static std::optional<bool> changes(std::string_view operation);

 private:
  using Answer = Result<wire::Json>;
  struct Operation;
  static const Operation* find_operation(std::string_view name);

  // groups.cc
  Answer create_log_group(const wire::JsonValue& body);
  Answer delete_log_group(const wire::JsonValue& body);
  Answer describe_log_groups(const wire::JsonValue& body);
  Answer put_retention_policy(const wire::JsonValue& body);
  Answer delete_retention_policy(const wire::JsonValue& body);
  Result<std::vector<StoredLogGroup>> groups_after(const std::string& prefix, const std::string& pattern,
                                                   const std::string& after, size_t limit) const;
  wire::Json group_json(const StoredLogGroup& group) const;

  // group_tags.cc
  Answer tag_resource(const wire::JsonValue& body);
  Answer untag_resource(const wire::JsonValue& body);
  Answer list_tags_for_resource(const wire::JsonValue& body);
  Answer tag_log_group(const wire::JsonValue& body);
  Answer untag_log_group(const wire::JsonValue& body);
  Answer list_tags_log_group(const wire::JsonValue& body);
  Answer add_tags(const std::string& group, const wire::StringMap& tags);
  Answer remove_tags(const std::string& group, const std::vector<std::string>& keys);
  Result<Tags> tags_of(const std::string& group) const;

  // streams.cc
  Answer create_log_stream(const wire::JsonValue& body);
  Answer delete_log_stream(const wire::JsonValue& body);
  Answer describe_log_streams(const wire::JsonValue& body);
  Result<wire::Json> stream_json(const LogGroup& group, const std::string& group_name, const StreamInfo& stream) const;

  // events.cc
  Answer put_log_events(const wire::JsonValue& body);
  Answer get_log_events(const wire::JsonValue& body);
  Answer filter_log_events(const wire::JsonValue& body);

  // The attempts' group, or one of the store's; kNotFound.
  Result<std::shared_ptr<const LogGroup>> group_named(const std::string& name) const;
  // kDenied for the group that is the server's own.
  static Status expect_clients_group(const std::string& name, std::string_view what);
  StoredLogGroup attempts_group() const;

  std::string data_root_;
  AttemptLogs attempts_;
  StoredLogs stored_;
  const Clock& clock_;
  LogsSettings settings_;
  std::mutex tags_mutex_;  // tags are read, changed and written
};

}  // namespace teson::logs
