#include "attempt_dir/codec.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "attempt_dir/files.h"
#include "attempt_dir/paths.h"

namespace teson {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;
// Of an order with an account: an agent that does not know accounts must not run it with its own rights.
constexpr int kAccountVersion = 2;
constexpr size_t kReasonLimit = 255;

constexpr std::array<std::pair<EndCause, const char*>, 6> kCauses = {{
    {EndCause::kExited, "exited"},
    {EndCause::kOutOfMemory, "out_of_memory"},
    {EndCause::kStopped, "stopped"},
    {EndCause::kTimedOut, "timed_out"},
    {EndCause::kLost, "lost"},
    {EndCause::kLaunchFailed, "launch_failed"},
}};

const char* cause_text(EndCause cause) {
  for (const auto& [value, text] : kCauses) {
    if (value == cause) return text;
  }
  return "exited";
}

std::string dump_lossy(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Reads fields of one object; the first thing wrong is kept and later reads give defaults.
class Reader {
 public:
  Reader(const Json& object, std::string file) : object_(object), file_(std::move(file)) {
    if (!object.is_object()) complain("is not a JSON object");
  }

  std::string text(const char* name) {
    const Json* value = find(name, "a string");
    if (!value) return {};
    if (!value->is_string()) return wrong(name, "a string", *value), std::string();
    return value->get<std::string>();
  }
  int64_t integer(const char* name, int64_t least = std::numeric_limits<int64_t>::min(),
                  int64_t most = std::numeric_limits<int64_t>::max()) {
    const Json* value = find(name, "a whole number");
    if (!value) return 0;
    if (!value->is_number_integer()) return wrong(name, "a whole number", *value), 0;
    const int64_t number = value->get<int64_t>();
    if (number < least || number > most) {
      complain(fmt::format("field '{}' is {}: it must be from {} to {}", name, number, least, most));
    }
    return number;
  }
  std::optional<int64_t> optional_integer(const char* name) {
    if (!has(name)) return std::nullopt;
    return integer(name);
  }
  const Json* list(const char* name) {
    const Json* value = find(name, "a list");
    if (!value) return nullptr;
    if (!value->is_array()) return wrong(name, "a list", *value), nullptr;
    return value;
  }
  const Json* object(const char* name) {
    const Json* value = find(name, "an object");
    if (!value) return nullptr;
    if (!value->is_object()) return wrong(name, "an object", *value), nullptr;
    return value;
  }
  bool has(const char* name) const {
    if (!object_.is_object()) return false;
    const auto at = object_.find(name);
    return at != object_.end() && !at->is_null();
  }
  void version(int known = kVersion) {
    const int64_t number = integer("version", 1);
    if (number > known) {
      complain(fmt::format("field 'version' is {}: this program knows up to {}; use a newer teson", number, known));
    }
  }
  AttemptId attempt_id() {
    const std::string job = text("job");
    const auto id = JobId::parse(job);
    if (!id && error_.empty()) complain(fmt::format("field 'job' is '{}': it must be a job id", job));
    return {id.value_or(JobId{}), static_cast<int>(integer("attempt", 1, std::numeric_limits<int>::max()))};
  }

  void wrong(const char* name, const char* expected, const Json& value) {
    complain(fmt::format("field '{}' must be {}, it is {}", name, expected, value.type_name()));
  }
  void complain(const std::string& what) {
    if (error_.empty()) error_ = file_ + ": " + what;
  }
  void take(const Reader& inner) {
    if (error_.empty()) error_ = inner.error_;
  }
  const std::string& error() const { return error_; }
  const std::string& file() const { return file_; }

 private:
  const Json* find(const char* name, const char* expected) {
    if (!error_.empty()) return nullptr;
    const auto at = object_.find(name);
    if (at != object_.end() && !at->is_null()) return &*at;
    complain(fmt::format("field '{}' is missing: it must be {}", name, expected));
    return nullptr;
  }

  const Json& object_;
  std::string file_;
  std::string error_;
};

Result<Json> parse(std::string_view text, const std::string& file) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return invalid(fmt::format("{}: not valid JSON ({} bytes)", file, text.size()));
  return json;
}

std::vector<std::string> read_strings(Reader& reader, const char* name) {
  std::vector<std::string> strings;
  const Json* list = reader.list(name);
  if (!list) return strings;
  for (const Json& item : *list) {
    if (!item.is_string()) return reader.wrong(name, "a list of strings", item), strings;
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

EnvironmentVariables read_environment(Reader& reader) {
  EnvironmentVariables variables;
  const Json* list = reader.list("environment");
  if (!list) return variables;
  for (const Json& item : *list) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_string()) {
      return reader.wrong("environment", "a list of [name, value]", item), variables;
    }
    variables.emplace_back(item[0].get<std::string>(), item[1].get<std::string>());
  }
  return variables;
}

Json encode_usage(const Usage& usage) {
  return {{"peak_memory_bytes", usage.peak_memory_bytes},
          {"memory_limit_bytes", usage.memory_limit_bytes},
          {"user_cpu_us", usage.user_cpu.micros},
          {"system_cpu_us", usage.system_cpu.micros},
          {"run_us", usage.run.micros}};
}

Usage read_usage(Reader& outer) {
  const Json* json = outer.object("usage");
  if (!json) return {};
  Reader reader(*json, outer.file() + " usage");
  Usage usage{.peak_memory_bytes = reader.integer("peak_memory_bytes", 0),
              .memory_limit_bytes = reader.integer("memory_limit_bytes", 0),
              .user_cpu = {reader.integer("user_cpu_us", 0)},
              .system_cpu = {reader.integer("system_cpu_us", 0)},
              .run = {reader.integer("run_us", 0)}};
  outer.take(reader);
  return usage;
}

EndCause read_cause(Reader& reader) {
  const std::string text = reader.text("cause");
  for (const auto& [value, name] : kCauses) {
    if (text == name) return value;
  }
  reader.complain(fmt::format("field 'cause' is '{}': it is none that this program knows", text));
  return EndCause::kLost;
}

Json encode_account(const UnixAccount& account) {
  return {{"name", account.name},
          {"uid", account.uid},
          {"gid", account.gid},
          {"groups", account.groups},
          {"home", account.home}};
}

UnixAccount read_account(Reader& outer) {
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max() - 1;  // -1 would mean "leave it"
  const Json* json = outer.object("account");
  if (!json) return {};
  Reader reader(*json, outer.file() + " account");
  UnixAccount account{.name = reader.text("name"),
                      .uid = static_cast<uint32_t>(reader.integer("uid", 0, kMost)),
                      .gid = static_cast<uint32_t>(reader.integer("gid", 0, kMost)),
                      .groups = {},
                      .home = reader.text("home")};
  if (const Json* groups = reader.list("groups")) {
    for (const Json& group : *groups) {
      if (!group.is_number_unsigned() || group.get<uint64_t>() > kMost) {
        reader.wrong("groups", "a list of group ids", group);
        break;
      }
      account.groups.push_back(group.get<uint32_t>());
    }
  }
  outer.take(reader);
  return account;
}

}  // namespace

Result<std::string> encode_order(const LaunchOrder& order) {
  Json environment = Json::array();
  for (const auto& [name, value] : order.environment) environment.push_back(Json::array({name, value}));
  Json json = {{"version", kVersion},
               {"job", order.id.job.text()},
               {"attempt", order.id.number},
               {"job_name", order.job_name},
               {"runtime", "process"},
               {"image", order.image},
               {"command", order.command},
               {"environment", std::move(environment)},
               {"limits",
                {{"milli_vcpus", order.limits.milli_vcpus},
                 {"memory_mib", order.limits.memory_mib},
                 {"gpus", order.limits.gpus}}},
               {"gpus", order.gpus},
               {"grace_us", order.grace.micros},
               {"working_directory", order.working_directory},
               {"log_stream", order.log_stream}};
  if (order.timeout) json["timeout_us"] = order.timeout->micros;
  if (order.account) {
    json["version"] = kAccountVersion;
    json["account"] = encode_account(*order.account);
  }
  try {
    return json.dump();
  } catch (const Json::exception&) {
    return invalid("the command, environment or name of attempt " + order.id.text() + " is not valid UTF-8");
  }
}

Result<LaunchOrder> decode_order(std::string_view text, const std::string& file) {
  const auto json = parse(text, file);
  if (!json) return std::unexpected(json.error());
  Reader reader(*json, file);
  reader.version(kAccountVersion);
  LaunchOrder order;
  order.id = reader.attempt_id();
  order.job_name = reader.text("job_name");
  if (const std::string runtime = reader.text("runtime"); runtime != "process") {
    reader.complain(fmt::format("field 'runtime' is '{}': this program knows 'process'", runtime));
  }
  order.image = reader.text("image");
  order.command = read_strings(reader, "command");
  order.environment = read_environment(reader);
  if (const Json* limits = reader.object("limits")) {
    Reader inner(*limits, file + " limits");
    order.limits = {.milli_vcpus = inner.integer("milli_vcpus", 0),
                    .memory_mib = inner.integer("memory_mib", 0, std::numeric_limits<int64_t>::max() >> 20),
                    .gpus = inner.integer("gpus", 0)};
    reader.take(inner);
  }
  if (const Json* gpus = reader.list("gpus")) {
    for (const Json& gpu : *gpus) {
      if (gpu.is_number_integer()) {
        order.gpus.push_back(gpu.get<int>());
      } else {
        reader.wrong("gpus", "a list of whole numbers", gpu);
      }
    }
  }
  if (const auto timeout = reader.optional_integer("timeout_us")) order.timeout = Duration{*timeout};
  order.grace = Duration{reader.integer("grace_us", 0)};
  order.working_directory = reader.text("working_directory");
  order.log_stream = reader.text("log_stream");
  if (reader.has("account")) order.account = read_account(reader);
  if (!reader.error().empty()) return invalid(reader.error());
  return order;
}

std::string encode_result(const AttemptResult& result) {
  const AttemptEnd& end = result.end;
  Json json = {{"version", kVersion},
               {"job", result.id.job.text()},
               {"attempt", result.id.number},
               {"cause", cause_text(end.cause)},
               {"reason", clip(end.reason, kReasonLimit)},
               {"status_reason", clip(end.status_reason, kReasonLimit)},
               {"ended_us", end.ended.micros},
               {"usage", encode_usage(end.usage)}};
  if (end.exit_code) json["exit_code"] = *end.exit_code;
  if (result.started) json["started_us"] = result.started->micros;
  return dump_lossy(json) + "\n";
}

Result<AttemptResult> decode_result(std::string_view text, const std::string& file) {
  const auto json = parse(text, file);
  if (!json) return std::unexpected(json.error());
  Reader reader(*json, file);
  reader.version();
  AttemptResult result;
  result.id = reader.attempt_id();
  result.end.cause = read_cause(reader);
  if (reader.has("exit_code")) result.end.exit_code = static_cast<int>(reader.integer("exit_code", 0, 255));
  result.end.reason = reader.text("reason");
  result.end.status_reason = reader.text("status_reason");
  result.end.ended = Instant{reader.integer("ended_us")};
  result.end.usage = read_usage(reader);
  if (const auto started = reader.optional_integer("started_us")) result.started = Instant{*started};
  if (!reader.error().empty()) return invalid(reader.error());
  return result;
}

std::string encode_lock_record(const LockRecord& record) {
  return dump_lossy({{"version", kVersion},
                     {"pid", record.pid},
                     {"start_ticks", record.start_ticks},
                     {"boot_id", record.boot_id},
                     {"cgroups", record.cgroups}}) +
         "\n";
}

std::optional<LockRecord> decode_lock_record(std::string_view text) {
  const auto json = parse(text, "lock");
  if (!json) return std::nullopt;
  Reader reader(*json, "lock");
  LockRecord record;
  record.pid = static_cast<pid_t>(reader.integer("pid", 1, std::numeric_limits<pid_t>::max()));
  record.start_ticks = static_cast<uint64_t>(reader.integer("start_ticks", 0));
  record.boot_id = reader.text("boot_id");
  record.cgroups = read_strings(reader, "cgroups");
  if (!reader.error().empty()) return std::nullopt;
  return record;
}

std::string encode_stop(Duration grace) {
  return dump_lossy({{"version", kVersion}, {"stop", true}, {"grace_us", grace.micros}}) + "\n";
}

std::optional<Duration> decode_stop(std::string_view text) {
  const auto json = parse(text, kStopFile);
  if (!json) return std::nullopt;
  Reader reader(*json, kStopFile);
  const int64_t grace = reader.integer("grace_us", 0);
  if (!reader.error().empty()) return std::nullopt;
  return Duration{grace};
}

std::string encode_event(const AgentEvent& event) {
  Json json = {{"at_us", event.at.micros}, {"event", event.event}};
  if (event.pid) json["pid"] = *event.pid;
  if (!event.detail.empty()) json["detail"] = event.detail;
  return dump_lossy(json) + "\n";
}

std::optional<AgentEvent> decode_event(std::string_view line) {
  const auto json = parse(line, kEventsFile);
  if (!json) return std::nullopt;
  Reader reader(*json, kEventsFile);
  AgentEvent event;
  event.at = Instant{reader.integer("at_us")};
  event.event = reader.text("event");
  event.pid = reader.optional_integer("pid");
  if (reader.has("detail")) event.detail = reader.text("detail");
  if (!reader.error().empty()) return std::nullopt;
  return event;
}

std::optional<Instant> started_in(std::string_view events) {
  while (!events.empty()) {
    const size_t end = events.find('\n');
    if (end == std::string_view::npos) return std::nullopt;  // still being written
    const auto event = decode_event(events.substr(0, end));
    if (event && event->event == "started") return event->at;
    events.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace teson
