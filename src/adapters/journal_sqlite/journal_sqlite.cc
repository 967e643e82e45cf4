#include "adapters/journal_sqlite/journal_sqlite.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "adapters/journal_sqlite/compactor.h"
#include "adapters/journal_sqlite/history_sqlite.h"
#include "adapters/journal_sqlite/id_bytes.h"
#include "adapters/journal_sqlite/schema_journal.h"
#include "adapters/sqlite/schema.h"
#include "base/check.h"
#include "codec/codec.h"

namespace teson {
namespace {

using sqlite::Connection;
using sqlite::Statement;
using sqlite::Transaction;

// Deleting is spread over appends, so that no commit becomes long.
constexpr uint64_t kDeletedPerAppend = 1'000;

// The writing connection and its statements: all of it is remade together after an I/O error.
struct Writer {
  Connection connection;
  Statement insert_fact;
  Statement insert_stream;
  Statement put_job;
  Statement put_child;
  Statement neighbours;
  Statement note_disorder;
  Statement delete_facts;
};

Status prepare_statements(Writer& writer) {
  const auto prepare = [&writer](Statement& into, std::string_view sql) -> Status {
    auto statement = writer.connection.prepare(sql);
    if (!statement) return std::unexpected(statement.error());
    into = std::move(*statement);
    return {};
  };
  if (auto s = prepare(writer.insert_fact, "INSERT INTO facts(seq, body) VALUES(?, ?)"); !s) return s;
  if (auto s = prepare(writer.insert_stream,
                       "INSERT OR REPLACE INTO streams(name, job, number, created_us) VALUES(?, ?, ?, ?)");
      !s) {
    return s;
  }
  if (auto s = prepare(writer.delete_facts, "DELETE FROM facts WHERE seq <= ?"); !s) return s;
  if (auto s = prepare(writer.neighbours,
                       "SELECT (SELECT created_us FROM jobs WHERE ord < ?1 ORDER BY ord DESC LIMIT 1),"
                       " (SELECT created_us FROM jobs WHERE ord > ?1 ORDER BY ord LIMIT 1)");
      !s) {
    return s;
  }
  if (auto s = prepare(writer.note_disorder, "INSERT OR IGNORE INTO meta(key, value) VALUES('jobs_disorder', '1')");
      !s) {
    return s;
  }
  if (auto s = prepare(writer.put_child, "INSERT OR REPLACE INTO children(parent, idx, body) VALUES(?, ?, ?)"); !s) {
    return s;
  }
  return prepare(writer.put_job,
                 "INSERT INTO jobs(ord, id, queue, name, name_lower, definition, revision, succeeded, created_us, body)"
                 " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                 " ON CONFLICT(id) DO UPDATE SET queue = excluded.queue, name = excluded.name,"
                 " name_lower = excluded.name_lower, definition = excluded.definition, revision = excluded.revision,"
                 " succeeded = excluded.succeeded, created_us = excluded.created_us, body = excluded.body");
}

Result<Writer> open_writer(const std::string& path) {
  Writer writer;
  auto connection = Connection::open(path, sqlite::Access::kReadWrite);
  if (!connection) return std::unexpected(connection.error());
  writer.connection = std::move(*connection);
  if (auto ready = sqlite::prepare_schema(writer.connection, {"the journal", kJournalSteps}, kAlwaysChecked); !ready) {
    return std::unexpected(ready.error());
  }
  if (auto ready = prepare_statements(writer); !ready) return std::unexpected(ready.error());
  return writer;
}

Result<uint64_t> query_number(Connection& connection, std::string_view sql) {
  auto statement = connection.prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  return static_cast<uint64_t>(statement->integer(0));
}

class Journaler final : public SqliteJournal {
 public:
  Journaler(const std::string& data, JournalOptions options)
      : path_(data + "/teson.db"),
        options_(std::move(options)),
        snapshots_(data + "/snapshots"),
        pool_(path_),
        history_(pool_) {}

  // An orderly end leaves everything in teson.db itself: whoever copies that file with the snapshots has it all.
  ~Journaler() override {
    compactor_.reset();
    const Status closed = pool_.while_closed([this]() -> Status {
      const Status done =
          writer_.connection.is_open() ? writer_.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") : Status();
      writer_ = Writer();
      return done;
    });
    if (!closed) spdlog::warn("{} keeps its latest facts in {}-wal: {}", path_, path_, closed.error().message);
  }

  Status start() {
    if (auto ready = snapshots_.prepare(); !ready) return ready;
    auto writer = open_writer(path_);
    if (!writer) return std::unexpected(writer.error());
    writer_ = std::move(*writer);
    if (auto found = find_ends(); !found) return found;
    if (options_.replay) compactor_.emplace(pool_, snapshots_, options_, newest_snapshot_);
    return {};
  }

  Status append(std::span<const Fact> facts, std::span<const Job> finished) override {
    if (broken_) {
      return fail(ErrorKind::kIo, "the journal failed earlier: it must be loaded again before anything is appended");
    }
    const auto before = std::chrono::steady_clock::now();
    auto done = append_in_transaction(facts, finished);
    if (!done) {
      broken_ = done.error().kind != ErrorKind::kUnavailable;
      return done;
    }
    commit_times_.note(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    last_fact_ += facts.size();
    if (compactor_) compactor_->observe(last_fact_);
    return {};
  }

  Result<JournalContents> load() override {
    if (compactor_) compactor_->wait_idle();
    if (broken_) {
      if (auto reopened = reopen(); !reopened) return std::unexpected(reopened.error());
    }
    auto reader = pool_.borrow();
    if (!reader) return std::unexpected(reader.error());
    return read_contents(**reader, snapshots_, 0);
  }

  const History& history() const override { return history_; }
  const CommitTimes& commit_times() const override { return commit_times_; }

  JournalStatus status() const override {
    JournalStatus status;
    status.last_fact = last_fact_;
    status.first_kept_fact = first_fact_;
    if (compactor_) compactor_->fill_status(status);
    return status;
  }

  void finish_snapshots() override {
    if (compactor_) compactor_->wait_idle();
  }

 private:
  Status append_in_transaction(std::span<const Fact> facts, std::span<const Job> finished) {
    auto transaction = Transaction::begin(writer_.connection);
    if (!transaction) return std::unexpected(transaction.error());
    uint64_t seq = last_fact_;
    for (const Fact& fact : facts) {
      if (auto done = insert_fact(++seq, fact); !done) return done;
    }
    for (const Job& job : finished) {
      if (auto done = put_job(job); !done) return done;
    }
    const auto deleted_to = delete_slice();
    if (!deleted_to) return std::unexpected(deleted_to.error());
    if (auto done = transaction->commit(); !done) return done;
    if (*deleted_to > 0) first_fact_ = *deleted_to + 1;
    if (first_fact_ == 0 && !facts.empty()) first_fact_ = last_fact_ + 1;
    return {};
  }

  Status insert_fact(uint64_t seq, const Fact& fact) {
    const std::string body = codec::encode(fact);
    writer_.insert_fact.bind(1, static_cast<int64_t>(seq)).bind(2, body);
    if (auto done = writer_.insert_fact.run(); !done) return done;
    const auto* started = std::get_if<fact::AttemptStarted>(&fact.body);
    if (started == nullptr || started->log_stream.empty()) return {};
    const IdBytes job = id_bytes(started->id.job);
    writer_.insert_stream.bind(1, started->log_stream)
        .bind_blob(2, view(job))
        .bind(3, started->id.number)
        .bind(4, started->started.micros);
    return writer_.insert_stream.run();
  }

  Status put_job(const Job& job) {
    TESON_CHECK(is_finished(job), "only finished jobs go to the archive");
    if (job.id.is_child()) return put_child(job);
    const IdBytes id = id_bytes(job.id);
    const std::string lower = lower_ascii(job.spec.name);
    const std::string body = codec::encode(job);
    writer_.put_job.bind(1, static_cast<int64_t>(job.order))
        .bind_blob(2, view(id))
        .bind(3, job.spec.queue)
        .bind(4, job.spec.name)
        .bind(5, lower)
        .bind(6, job.spec.definition)
        .bind(7, job.spec.definition_revision)
        .bind(8, std::holds_alternative<job_state::Succeeded>(job.state) ? 1 : 0)
        .bind(9, job.created.micros)
        .bind(10, body);
    if (auto done = writer_.put_job.run(); !done) return done;
    return note_order(job);
  }

  Status put_child(const Job& job) {
    const IdBytes parent = id_bytes(job.id.parent());
    const std::string body = codec::encode(job);
    writer_.put_child.bind_blob(1, view(parent)).bind(2, job.id.index).bind(3, body);
    return writer_.put_child.run();
  }

  // Jobs are created in the order of their numbers, and the archive's filters by time count on it to find their place.
  // Should one ever not be, that is noted, and they search instead.
  Status note_order(const Job& job) {
    const sqlite::ResetOnExit reset(writer_.neighbours);
    writer_.neighbours.bind(1, static_cast<int64_t>(job.order));
    auto row = writer_.neighbours.step();
    if (!row) return std::unexpected(row.error());
    const bool not_too_early = writer_.neighbours.is_null(0) || writer_.neighbours.integer(0) <= job.created.micros;
    const bool not_too_late = writer_.neighbours.is_null(1) || writer_.neighbours.integer(1) >= job.created.micros;
    return not_too_early && not_too_late ? Status() : writer_.note_disorder.run();
  }

  // Returns the last fact deleted, 0 for none.
  Result<uint64_t> delete_slice() {
    const uint64_t deletable = compactor_ ? compactor_->deletable() : 0;
    if (first_fact_ == 0 || deletable < first_fact_) return 0;
    const uint64_t last = std::min(deletable, first_fact_ + kDeletedPerAppend - 1);
    writer_.delete_facts.bind(1, static_cast<int64_t>(last));
    if (auto done = writer_.delete_facts.run(); !done) return std::unexpected(done.error());
    return last;
  }

  // Everything is closed, so that SQLite recovers from the files and not from what is left in memory; then what it
  // recovered is written to the database file and synced: a batch that is reported now cannot vanish later, and one
  // that is not reported cannot come back.
  Status reopen() {
    return pool_.while_closed([this]() -> Status {
      writer_ = Writer();
      auto writer = open_writer(path_);
      if (!writer) return std::unexpected(writer.error());
      writer_ = std::move(*writer);
      if (auto done = writer_.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"); !done) return done;
      if (auto found = find_ends(); !found) return found;
      broken_ = false;
      return {};
    });
  }

  Status find_ends() {
    auto last = query_number(writer_.connection, "SELECT coalesce(max(seq), 0) FROM facts");
    if (!last) return std::unexpected(last.error());
    auto first = query_number(writer_.connection, "SELECT coalesce(min(seq), 0) FROM facts");
    if (!first) return std::unexpected(first.error());
    auto numbers = snapshots_.list();
    if (!numbers) return std::unexpected(numbers.error());
    newest_snapshot_ = numbers->empty() ? 0 : numbers->front();
    if (newest_snapshot_ > *last && *last > 0) {
      spdlog::warn("{} ends at fact {}, but a snapshot holds facts up to {}: is the database an older copy?", path_,
                   *last, newest_snapshot_);
    }
    last_fact_ = std::max(*last, newest_snapshot_);
    first_fact_ = *first;
    return {};
  }

  const std::string path_;
  const JournalOptions options_;
  SnapshotStore snapshots_;
  mutable sqlite::ReadPool pool_;
  SqliteHistory history_;
  Writer writer_;
  bool broken_ = false;
  CommitTimes commit_times_;
  uint64_t newest_snapshot_ = 0;
  std::atomic<uint64_t> last_fact_ = 0;
  std::atomic<uint64_t> first_fact_ = 0;
  std::optional<Compactor> compactor_;  // last: it uses all of the above
};

}  // namespace

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(const DataDirectory& directory, JournalOptions options) {
  auto journal = std::make_unique<Journaler>(directory.path(), std::move(options));
  if (auto started = journal->start(); !started) return std::unexpected(started.error());
  return journal;
}

}  // namespace teson
