#include "adapters/journal_sqlite/history_sqlite.h"

#include <fmt/format.h>

#include <charconv>
#include <variant>

#include "adapters/journal_sqlite/id_bytes.h"
#include "codec/codec.h"

namespace teson {
namespace {

using sqlite::Statement;

// How many matches of a name prefix are worth sorting; more of them are dense enough to meet on a walk through the
// archive from its newest end.
constexpr int64_t kSortedMatches = 20'000;

Result<Job> decode(std::string_view body) {
  auto job = codec::decode_job(body);
  if (!job) return fail(ErrorKind::kIo, "the archive of finished jobs: " + job.error().message);
  return job;
}

// The smallest text that is larger than every text with this prefix; empty if there is none.
std::string after_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

struct DefinitionFilter {
  std::string name;
  std::optional<int64_t> revision;
};

// "name" or "name:revision".
DefinitionFilter parse_definition(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, std::nullopt};
  int64_t revision = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, revision);
  if (parsed.ec != std::errc() || parsed.ptr != end) return {text, std::nullopt};
  return {text.substr(0, colon), revision};
}

// Where in the table's order a time lies: exact unless jobs were ever archived out of order (journal_sqlite.cc notes
// it).
constexpr const char* kBefore =
    "ord <= CASE WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'jobs_disorder') THEN 9223372036854775807 ELSE"
    " (SELECT ord FROM jobs WHERE created_us < ? ORDER BY created_us DESC, ord DESC LIMIT 1) END";
constexpr const char* kAfter =
    "ord >= CASE WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'jobs_disorder') THEN 0 ELSE"
    " (SELECT ord FROM jobs WHERE created_us > ? ORDER BY created_us, ord LIMIT 1) END";

// A WHERE clause and what is bound to it.
class Filter {
 public:
  void add(const std::string& condition, std::variant<int64_t, std::string> value) {
    conditions_ += conditions_.empty() ? " WHERE " : " AND ";
    conditions_ += condition;
    values_.push_back(std::move(value));
  }
  void use_index(const std::string& name) { index_ = " INDEXED BY " + name; }
  // The numbers of the jobs are found first, by indexes alone where possible, and only their rows are read.
  std::string sql() const {
    return "SELECT body FROM (SELECT ord AS found FROM jobs" + index_ + conditions_ +
           " ORDER BY ord DESC LIMIT ?) JOIN jobs ON ord = found ORDER BY found DESC";
  }
  const std::string& conditions() const { return conditions_; }
  int bind_to(Statement& statement) const {
    int parameter = 0;
    for (const auto& value : values_) {
      if (const auto* number = std::get_if<int64_t>(&value)) {
        statement.bind(++parameter, *number);
      } else {
        statement.bind(++parameter, std::string_view(std::get<std::string>(value)));
      }
    }
    return parameter;
  }

 private:
  std::string index_;
  std::string conditions_;
  std::vector<std::variant<int64_t, std::string>> values_;
};

struct NameFilter {
  std::string text;
  bool prefix = false;
};

NameFilter parse_name(const std::string& pattern) {
  NameFilter filter{lower_ascii(pattern), pattern.ends_with('*')};
  if (filter.prefix) filter.text.pop_back();
  return filter;
}

// Does the name's index find few enough rows to sort them?
Result<bool> few_names(sqlite::Reader& reader, const std::string& prefix) {
  auto statement =
      reader.statement("SELECT count(*) FROM (SELECT 1 FROM jobs WHERE name_lower >= ? AND name_lower < ? LIMIT ?)");
  if (!statement) return std::unexpected(statement.error());
  const sqlite::ResetOnExit reset(**statement);
  const std::string end = after_prefix(prefix);
  (*statement)->bind(1, prefix).bind(2, end).bind(3, kSortedMatches);
  auto row = (*statement)->step();
  if (!row) return std::unexpected(row.error());
  return (*statement)->integer(0) < kSortedMatches;
}

Status add_name(sqlite::Reader& reader, const std::string& pattern, Filter& filter) {
  if (pattern.empty()) return {};
  const NameFilter name = parse_name(pattern);
  if (!name.prefix) {
    filter.add("name_lower = ?", name.text);
    return {};
  }
  if (name.text.empty()) return {};
  auto few = few_names(reader, name.text);
  if (!few) return std::unexpected(few.error());
  // A unary plus keeps SQLite from using the column's index.
  const std::string column = *few ? "name_lower" : "+name_lower";
  if (*few) filter.use_index("jobs_name");
  filter.add(column + " >= ?", name.text);
  if (const std::string end = after_prefix(name.text); !end.empty()) filter.add(column + " < ?", end);
  return {};
}

Result<Filter> make_filter(sqlite::Reader& reader, const HistoryQuery& query) {
  Filter filter;
  if (!query.queue.empty()) filter.add("queue = ?", query.queue);
  if (query.succeeded) filter.add("succeeded = ?", int64_t{*query.succeeded});
  if (!query.definition.empty()) {
    const DefinitionFilter definition = parse_definition(query.definition);
    filter.add("definition = ?", definition.name);
    if (definition.revision) filter.add("revision = ?", *definition.revision);
  }
  if (auto added = add_name(reader, query.name_pattern, filter); !added) return std::unexpected(added.error());
  if (query.created_before) {
    filter.add(kBefore, query.created_before->micros);
    filter.add("+created_us < ?", query.created_before->micros);
  }
  if (query.created_after) {
    filter.add(kAfter, query.created_after->micros);
    filter.add("+created_us > ?", query.created_after->micros);
  }
  if (query.order_below) {
    const uint64_t below = *query.order_below;
    filter.add("ord < ?", below > uint64_t{INT64_MAX} ? INT64_MAX : static_cast<int64_t>(below));
  }
  return filter;
}

LogStreamRecord stream_of(const Statement& row) {
  return {std::string(row.text(0)), AttemptId{id_from_bytes(row.text(1)), static_cast<int>(row.integer(2))},
          Instant{row.integer(3)}};
}

}  // namespace

Result<std::vector<Job>> SqliteHistory::find(std::span<const JobId> ids) const {
  std::vector<Job> jobs;
  if (ids.empty()) return jobs;
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto of_job = (*reader)->statement("SELECT body FROM jobs WHERE id = ?");
  if (!of_job) return std::unexpected(of_job.error());
  auto of_child = (*reader)->statement("SELECT body FROM children WHERE parent = ? AND idx = ?");
  if (!of_child) return std::unexpected(of_child.error());
  for (const JobId& id : ids) {
    Statement& statement = id.is_child() ? **of_child : **of_job;
    const sqlite::ResetOnExit reset(statement);
    const IdBytes bytes = id_bytes(id.parent());
    statement.bind_blob(1, view(bytes));
    if (id.is_child()) statement.bind(2, id.index);
    auto row = statement.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) continue;
    auto job = decode(statement.text(0));
    if (!job) return std::unexpected(job.error());
    jobs.push_back(std::move(*job));
  }
  return jobs;
}

Result<std::vector<Job>> SqliteHistory::list(const HistoryQuery& query) const {
  std::vector<Job> jobs;
  if (query.limit <= 0) return jobs;
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto filter = make_filter(**reader, query);
  if (!filter) return std::unexpected(filter.error());
  auto statement = (*reader)->statement(filter->sql());
  if (!statement) return std::unexpected(statement.error());
  const sqlite::ResetOnExit reset(**statement);
  const int bound = filter->bind_to(**statement);
  (*statement)->bind(bound + 1, query.limit);
  while (true) {
    auto row = (*statement)->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return jobs;
    auto job = decode((*statement)->text(0));
    if (!job) return std::unexpected(job.error());
    jobs.push_back(std::move(*job));
  }
}

Result<std::optional<LogStreamRecord>> SqliteHistory::find_stream(const std::string& name) const {
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto statement = (*reader)->statement("SELECT name, job, number, created_us FROM streams WHERE name = ?");
  if (!statement) return std::unexpected(statement.error());
  const sqlite::ResetOnExit reset(**statement);
  (*statement)->bind(1, name);
  auto row = (*statement)->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return stream_of(**statement);
}

Result<std::vector<LogStreamRecord>> SqliteHistory::list_streams(const std::string& prefix, const std::string& after,
                                                                 int limit) const {
  std::vector<LogStreamRecord> streams;
  if (limit <= 0) return streams;
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  Filter filter;
  if (!prefix.empty()) {
    filter.add("name >= ?", prefix);
    if (const std::string end = after_prefix(prefix); !end.empty()) filter.add("name < ?", end);
  }
  if (!after.empty()) filter.add("name > ?", after);
  auto statement = (*reader)->statement("SELECT name, job, number, created_us FROM streams" + filter.conditions() +
                                        " ORDER BY name LIMIT ?");
  if (!statement) return std::unexpected(statement.error());
  const sqlite::ResetOnExit reset(**statement);
  const int bound = filter.bind_to(**statement);
  (*statement)->bind(bound + 1, limit);
  while (true) {
    auto row = (*statement)->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return streams;
    streams.push_back(stream_of(**statement));
  }
}

}  // namespace teson
