#include "sim/sim_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codec/codec.h"
#include "core/state/state.h"

namespace teson::sim {
namespace {

// A load with more facts than this always folds: recovery stays cheap, as with the real journal.
constexpr size_t kFoldAbove = 250;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool name_matches(const std::string& pattern, const std::string& name) {
  if (pattern.empty()) return true;
  const std::string wanted = lower(pattern);
  const std::string have = lower(name);
  return wanted.ends_with('*') ? have.starts_with(wanted.substr(0, wanted.size() - 1)) : have == wanted;
}

bool definition_matches(const std::string& wanted, const JobSpec& spec) {
  return wanted.empty() || wanted == spec.definition ||
         wanted == fmt::format("{}:{}", spec.definition, spec.definition_revision);
}

bool wanted(const HistoryQuery& query, const Job& job) {
  return !job.id.is_child() && (query.queue.empty() || query.queue == job.spec.queue) &&
         (!query.succeeded || *query.succeeded == std::holds_alternative<job_state::Succeeded>(job.state)) &&
         name_matches(query.name_pattern, job.spec.name) && definition_matches(query.definition, job.spec) &&
         (!query.created_before || job.created < *query.created_before) &&
         (!query.created_after || job.created > *query.created_after);
}

template <class T>
T decoded(Result<T> value, const char* what) {
  if (!value)
    throw BrokenInvariant{fmt::format("a {} does not come back from its JSON: {}", what, value.error().message)};
  return std::move(*value);
}

}  // namespace

SimJournal::SimJournal(Site site, Prng prng, Surroundings around)
    : site_(std::move(site)), prng_(prng), around_(around) {}

Status SimJournal::append(std::span<const Fact> facts, std::span<const Job> finished) {
  const Faults& faults = around_.faults;
  around_.crash_points.pass(Met::kCrashBeforeCommit);
  last_failure_kept_nothing_ = true;
  if (prng_.chance(faults.journal_refuses)) {
    around_.coverage.met(Met::kJournalRefused);
    return fail(ErrorKind::kUnavailable, "no space left on the simulated device");
  }
  if (prng_.chance(faults.journal_fails_unkept)) {
    around_.coverage.met(Met::kJournalFailedUnkept);
    return fail(ErrorKind::kIo, "simulated write error");
  }
  keep(facts, finished);
  around_.crash_points.pass(Met::kCrashAfterCommit);
  if (prng_.chance(faults.journal_fails_kept)) {
    around_.coverage.met(Met::kJournalFailedKept);
    last_failure_kept_nothing_ = false;
    return fail(ErrorKind::kIo, "simulated error of fsync");
  }
  return {};
}

void SimJournal::keep(std::span<const Fact> facts, std::span<const Job> finished) {
  if (observer_) observer_(facts, finished);
  facts_.insert(facts_.end(), facts.begin(), facts.end());
  batch_ends_.push_back(facts_.size());
  const std::lock_guard lock(mutex_);
  for (const Fact& fact : facts) {
    if (const auto* started = std::get_if<fact::AttemptStarted>(&fact.body)) {
      streams_.insert_or_assign(started->log_stream,
                                LogStreamRecord{started->log_stream, started->id, started->started});
    }
  }
  for (const Job& job : finished) {
    if (!archived_order_.emplace(job.id, job.order).second) {
      throw BrokenInvariant{fmt::format("job {} is archived twice", job.id.text())};
    }
    const size_t before = archive_.size();
    archive_.emplace_hint(archive_.end(), job.order, job);
    if (archive_.size() == before) {
      throw BrokenInvariant{fmt::format("job {} is archived under the order {} of another", job.id.text(), job.order)};
    }
  }
}

// Replays a prefix that ends with a batch, as the real journal does, and forgets it.
void SimJournal::fold() {
  if (batch_ends_.empty()) return;
  const size_t batches = facts_.size() > kFoldAbove ? batch_ends_.size() : prng_.below(batch_ends_.size()) + 1;
  const size_t count = batch_ends_[batches - 1];
  State state(site_, std::move(snapshot_));
  for (size_t i = 0; i < count; ++i) state.apply(facts_[i]);
  snapshot_ = state.snapshot();
  snapshot_seq_ += count;
  facts_.erase(facts_.begin(), facts_.begin() + static_cast<std::ptrdiff_t>(count));
  batch_ends_.erase(batch_ends_.begin(), batch_ends_.begin() + static_cast<std::ptrdiff_t>(batches));
  for (size_t& end : batch_ends_) end -= count;
  around_.coverage.met(Met::kSnapshotTaken);
}

JournalContents SimJournal::as_read_back() const {
  if (!through_json_) return {snapshot_, snapshot_seq_, facts_};
  around_.coverage.met(Met::kJsonRoundTrip);
  JournalContents out;
  out.snapshot = decoded(codec::decode_snapshot(codec::encode(snapshot_)), "snapshot");
  out.snapshot_seq = snapshot_seq_;
  out.facts.reserve(facts_.size());
  for (const Fact& fact : facts_) out.facts.push_back(decoded(codec::decode_fact(codec::encode(fact)), "fact"));
  return out;
}

Result<JournalContents> SimJournal::load() {
  around_.crash_points.pass(Met::kCrashInRecovery);
  const Instant now = around_.timeline.now();
  if (now >= unreadable_until_ && prng_.chance(around_.faults.journal_unreadable)) {
    unreadable_until_ = now + Duration::millis(static_cast<int64_t>(prng_.below(5000)) + 1);
  }
  if (now < unreadable_until_) {
    around_.coverage.met(Met::kJournalUnreadable);
    return fail(ErrorKind::kIo, "simulated read error");
  }
  if (around_.sabotage.journal_loses_a_batch && !batch_ends_.empty()) {
    batch_ends_.pop_back();
    facts_.resize(batch_ends_.empty() ? 0 : batch_ends_.back());
  }
  if (facts_.size() > kFoldAbove || prng_.chance(around_.faults.snapshot)) fold();
  return as_read_back();
}

size_t SimJournal::archived() const {
  const std::lock_guard lock(mutex_);
  return archive_.size();
}

Result<std::vector<Job>> SimJournal::find(std::span<const JobId> ids) const {
  const std::lock_guard lock(mutex_);
  std::vector<Job> out;
  for (const JobId& id : ids) {
    if (const auto found = archived_order_.find(id); found != archived_order_.end()) {
      out.push_back(archive_.at(found->second));
    }
  }
  return out;
}

Result<std::vector<Job>> SimJournal::list(const HistoryQuery& query) const {
  const std::lock_guard lock(mutex_);
  std::vector<Job> out;
  auto at = query.order_below ? archive_.lower_bound(*query.order_below) : archive_.end();
  while (at != archive_.begin() && std::ssize(out) < query.limit) {
    --at;
    if (wanted(query, at->second)) out.push_back(at->second);
  }
  return out;
}

Result<std::optional<LogStreamRecord>> SimJournal::find_stream(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(name);
  return found == streams_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<LogStreamRecord>> SimJournal::list_streams(const std::string& prefix, const std::string& after,
                                                              int limit) const {
  const std::lock_guard lock(mutex_);
  std::vector<LogStreamRecord> out;
  for (const auto& [name, record] : streams_) {
    if (name.starts_with(prefix) && name > after) out.push_back(record);
  }
  std::ranges::sort(out, {}, &LogStreamRecord::name);
  if (std::ssize(out) > limit) out.resize(static_cast<size_t>(limit));
  return out;
}

}  // namespace teson::sim
