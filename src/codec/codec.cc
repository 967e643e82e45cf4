#include "codec/codec.h"

#include <algorithm>

#include "codec/reader.h"
#include "codec/writer.h"

namespace teson::codec {
namespace {

constexpr int kSnapshotFormat = 1;

// What a failed parse is called: enough of the text to know it by, never all of it.
std::string excerpt(std::string_view text) {
  constexpr size_t kShown = 60;
  std::string shown;
  append_json_string(shown, text.substr(0, kShown));
  if (text.size() > kShown) shown += "...";
  return shown;
}

Result<Json> parse(std::string_view what, std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return invalid(std::string(what) + ": not JSON: " + excerpt(text));
  if (!json.is_object()) return invalid(std::string(what) + ": not a JSON object: " + excerpt(text));
  return json;
}

template <class T>
Result<T> read_whole(std::string_view what, const Json& json) {
  ReadContext context;
  T value;
  read(context, json, value);
  if (context.failed()) return std::unexpected(context.error(what));
  return value;
}

// Counts let a reader see that lines are missing, whatever the file's checksum says.
struct SnapshotHead {
  int format = 0;
  Instant last_fact_at;
  uint64_t next_order = 1;
  uint64_t instances_started = 0;
  uint64_t values = 0;
};

void fields(auto& v, Of<SnapshotHead> auto& x) {
  v.required("format", x.format);
  v.required("last_fact_at_us", x.last_fact_at);
  v.required("next_order", x.next_order);
  v.required("instances_started", x.instances_started);
  v.required("values", x.values);
}

template <class T>
void write_lines(std::string& out, std::string_view kind, const std::vector<T>& values) {
  for (const T& value : values) {
    ObjectWriter line(out);
    line.required(kind, value);
    line.close();
    out += '\n';
  }
}

// Appends the line's value to `list` if the line is of this kind.
template <class T>
bool read_line(ReadContext& context, const Json& line, std::string_view kind, std::vector<T>& list) {
  if (!line.contains(kind)) return false;
  ObjectReader(context, line).required(kind, list.emplace_back());
  return true;
}

Status read_snapshot_line(std::string_view text, Snapshot& snapshot) {
  auto line = parse("snapshot", text);
  if (!line) return std::unexpected(line.error());
  ReadContext context;
  const bool known = read_line(context, *line, "job", snapshot.jobs) ||
                     read_line(context, *line, "environment", snapshot.environments) ||
                     read_line(context, *line, "queue", snapshot.queues) ||
                     read_line(context, *line, "definition", snapshot.definitions) ||
                     read_line(context, *line, "instance", snapshot.instances) ||
                     read_line(context, *line, "policy", snapshot.policies) ||
                     read_line(context, *line, "share", snapshot.shares) ||
                     read_line(context, *line, "consumable", snapshot.consumables);
  if (!known) return invalid("snapshot: a line of unknown kind (was it written by a newer teson?): " + excerpt(text));
  if (context.failed()) return std::unexpected(context.error("snapshot"));
  return {};
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

std::string encode(const Fact& fact) {
  std::string out;
  out.reserve(1024);
  std::visit(
      [&]<class T>(const T& body) {
        out += R"({"kind":")";
        out += kKind<T>;
        out += R"(","at_us":)";
        append_json_integer(out, fact.at.micros);
        out += R"(,"body":)";
        write(out, body);
        out += '}';
      },
      fact.body);
  return out;
}

Result<Fact> decode_fact(std::string_view text) {
  auto json = parse("fact", text);
  if (!json) return std::unexpected(json.error());
  ReadContext context;
  ObjectReader object(context, *json);
  std::string kind;
  Fact fact;
  object.required("kind", kind);
  object.required("at_us", fact.at);
  if (context.failed()) return std::unexpected(context.error("fact"));
  const auto body = json->find("body");
  if (body == json->end()) return invalid("fact " + kind + ": has no member 'body'");
  if (!read_alternative(context, kind, *body, fact.body)) {
    return invalid("fact: '" + kind + "' is not a known kind (was it written by a newer teson?)");
  }
  if (context.failed()) return std::unexpected(context.error("fact " + kind));
  return fact;
}

std::string encode(const Job& job) {
  std::string out;
  out.reserve(2048);
  write(out, job);
  return out;
}

Result<Job> decode_job(std::string_view text) {
  auto json = parse("job", text);
  if (!json) return std::unexpected(json.error());
  return read_whole<Job>("job", *json);
}

std::string encode(const Snapshot& snapshot) {
  std::string out;
  out.reserve(4096 + 1024 * snapshot.jobs.size());
  const uint64_t values = snapshot.environments.size() + snapshot.queues.size() + snapshot.definitions.size() +
                          snapshot.instances.size() + snapshot.jobs.size() + snapshot.policies.size() +
                          snapshot.shares.size() + snapshot.consumables.size();
  const SnapshotHead head{kSnapshotFormat, snapshot.last_fact_at, snapshot.next_order, snapshot.instances_started,
                          values};
  ObjectWriter object(out);
  fields(object, head);
  object.close();
  out += '\n';
  write_lines(out, "environment", snapshot.environments);
  write_lines(out, "queue", snapshot.queues);
  write_lines(out, "definition", snapshot.definitions);
  write_lines(out, "instance", snapshot.instances);
  write_lines(out, "policy", snapshot.policies);
  write_lines(out, "share", snapshot.shares);
  write_lines(out, "consumable", snapshot.consumables);
  write_lines(out, "job", snapshot.jobs);
  return out;
}

Result<Snapshot> decode_snapshot(std::string_view text) {
  auto json = parse("snapshot", take_line(text));
  if (!json) return std::unexpected(json.error());
  ReadContext context;
  SnapshotHead head;
  ObjectReader object(context, *json);
  fields(object, head);
  if (context.failed()) return std::unexpected(context.error("snapshot"));
  if (head.format != kSnapshotFormat) {
    return invalid("snapshot: format " + std::to_string(head.format) + " is not " + std::to_string(kSnapshotFormat) +
                   " (was it written by a newer teson?)");
  }
  Snapshot snapshot;
  snapshot.last_fact_at = head.last_fact_at;
  snapshot.next_order = head.next_order;
  snapshot.instances_started = head.instances_started;
  uint64_t values = 0;
  for (; !text.empty(); ++values) {
    if (auto done = read_snapshot_line(take_line(text), snapshot); !done) return std::unexpected(done.error());
  }
  if (values != head.values) {
    return invalid("snapshot: " + std::to_string(head.values) + " values were written, " + std::to_string(values) +
                   " are there");
  }
  return snapshot;
}

}  // namespace teson::codec
