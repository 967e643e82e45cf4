#include "adapters/journal_sqlite/compactor.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "codec/codec.h"

namespace teson {
namespace {

// Takes the newest snapshot that is whole and understood; none is fine for a young journal.
Status read_newest_snapshot(const SnapshotStore& snapshots, JournalContents& contents) {
  auto numbers = snapshots.list();
  if (!numbers) return std::unexpected(numbers.error());
  for (const uint64_t seq : *numbers) {
    auto file = snapshots.read(seq);
    if (!file) {
      spdlog::warn("{}; using an older one", file.error().message);
      continue;
    }
    auto snapshot = codec::decode_snapshot(file->text);
    if (!snapshot) return fail(ErrorKind::kIo, snapshots.path(seq) + ": " + snapshot.error().message);
    contents.snapshot = std::move(*snapshot);
    contents.snapshot_seq = seq;
    return {};
  }
  return {};
}

Status read_facts(sqlite::Reader& reader, uint64_t last, JournalContents& contents) {
  auto statement = reader.statement("SELECT seq, body FROM facts WHERE seq > ? AND seq <= ? ORDER BY seq");
  if (!statement) return std::unexpected(statement.error());
  const sqlite::ResetOnExit reset(**statement);
  const int64_t upper = last == 0 ? INT64_MAX : static_cast<int64_t>(last);
  (*statement)->bind(1, static_cast<int64_t>(contents.snapshot_seq)).bind(2, upper);
  for (uint64_t expected = contents.snapshot_seq + 1;; ++expected) {
    auto row = (*statement)->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
    const auto seq = static_cast<uint64_t>((*statement)->integer(0));
    if (seq != expected) {
      return fail(ErrorKind::kIo,
                  fmt::format("the journal lacks the facts {} to {}: the snapshot files that held them are damaged or "
                              "gone. Restore the data directory from a backup",
                              expected, seq - 1));
    }
    auto fact = codec::decode_fact((*statement)->text(1));
    if (!fact) return fail(ErrorKind::kIo, fmt::format("the journal's fact {}: {}", seq, fact.error().message));
    contents.facts.push_back(std::move(*fact));
  }
}

}  // namespace

Result<JournalContents> read_contents(sqlite::Reader& reader, const SnapshotStore& snapshots, uint64_t last) {
  JournalContents contents;
  if (auto done = read_newest_snapshot(snapshots, contents); !done) return std::unexpected(done.error());
  if (auto done = read_facts(reader, last, contents); !done) return std::unexpected(done.error());
  return contents;
}

Compactor::Compactor(sqlite::ReadPool& pool, SnapshotStore& snapshots, const JournalOptions& options, uint64_t newest)
    : pool_(pool),
      snapshots_(snapshots),
      replay_(options.replay),
      snapshot_every_(options.snapshot_every),
      requested_(newest),
      thread_([this] { run(); }) {}

Compactor::~Compactor() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Compactor::observe(uint64_t last_fact) {
  {
    std::lock_guard lock(mutex_);
    if (wanted_ != 0 || last_fact < requested_ + std::max(snapshot_every_, values_in_last_)) return;
    wanted_ = requested_ = last_fact;
  }
  changed_.notify_all();
}

void Compactor::wait_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return wanted_ == 0 && !busy_; });
}

uint64_t Compactor::deletable() const {
  std::lock_guard lock(mutex_);
  return deletable_;
}

void Compactor::fill_status(JournalStatus& status) const {
  std::lock_guard lock(mutex_);
  status.last_snapshot = taken_;
  status.failed_snapshots = failures_;
  status.last_snapshot_error = last_error_;
}

void Compactor::run() {
  // Behind the loop's thread and everybody's requests: a snapshot has time.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
  const uint64_t found = older_whole_snapshot();
  std::unique_lock lock(mutex_);
  deletable_ = found;
  busy_ = false;
  changed_.notify_all();
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || wanted_ != 0; });
    if (stopping_) return;
    const uint64_t last_fact = std::exchange(wanted_, 0);
    busy_ = true;
    lock.unlock();
    const auto done = take_snapshot(last_fact);
    const uint64_t older = done ? older_whole_snapshot() : 0;
    if (done) snapshots_.keep_only(last_fact, older);
    if (!done) spdlog::error("no snapshot at fact {}: {}; start-up will take longer", last_fact, done.error().message);
    lock.lock();
    busy_ = false;
    if (done) {
      taken_ = last_fact;
      values_in_last_ = *done;
      deletable_ = older;
      last_error_.clear();
    } else {
      ++failures_;
      last_error_ = done.error().message;
    }
    changed_.notify_all();
  }
}

Result<uint64_t> Compactor::take_snapshot(uint64_t last_fact) {
  JournalContents contents;
  {
    auto reader = pool_.borrow();
    if (!reader) return std::unexpected(reader.error());
    auto read = read_contents(**reader, snapshots_, last_fact);
    if (!read) return std::unexpected(read.error());
    contents = std::move(*read);
  }
  if (contents.snapshot_seq + contents.facts.size() != last_fact) {
    return fail(ErrorKind::kIo,
                fmt::format("the journal holds facts up to {} only", contents.snapshot_seq + contents.facts.size()));
  }
  const Snapshot snapshot = replay_(std::move(contents));
  if (auto written = snapshots_.write(last_fact, codec::encode(snapshot)); !written) {
    return std::unexpected(written.error());
  }
  return snapshot.jobs.size() + snapshot.definitions.size() + snapshot.instances.size() + snapshot.queues.size() +
         snapshot.environments.size();
}

uint64_t Compactor::older_whole_snapshot() const {
  const auto numbers = snapshots_.list();
  if (!numbers) return 0;
  int whole = 0;
  for (const uint64_t seq : *numbers) {
    if (snapshots_.read(seq) && ++whole == 2) return seq;
  }
  return 0;
}

}  // namespace teson
