#include "adapters/logs_sqlite/log_writer.h"

#include "adapters/logs_sqlite/schema_logs.h"
#include "adapters/sqlite/schema.h"

namespace teson {

Result<sqlite::Statement*> LogTransaction::statement(const char* sql) {
  auto found = statements_.find(std::string_view(sql));
  if (found == statements_.end()) {
    auto prepared = connection_.prepare(sql);
    if (!prepared) return std::unexpected(prepared.error());
    found = statements_.emplace(sql, std::move(*prepared)).first;
  }
  found->second.reset();
  return &found->second;
}

Result<std::optional<int64_t>> LogTransaction::query(const char* sql, const Bind& bind) {
  auto prepared = statement(sql);
  if (!prepared) return std::unexpected(prepared.error());
  const sqlite::ResetOnExit reset(**prepared);
  bind(**prepared);
  auto row = (*prepared)->step();
  if (!row) return std::unexpected(row.error());
  if (!*row || (*prepared)->is_null(0)) return std::nullopt;
  return (*prepared)->integer(0);
}

Result<int> LogTransaction::change(const char* sql, const Bind& bind) {
  auto prepared = statement(sql);
  if (!prepared) return std::unexpected(prepared.error());
  bind(**prepared);
  if (auto done = (*prepared)->run(); !done) return std::unexpected(done.error());
  return connection_.changes();
}

Status LogWriter::open() {
  std::lock_guard lock(mutex_);
  return open_locked();
}

Status LogWriter::open_locked() {
  auto connection = sqlite::Connection::open(path_, sqlite::Access::kReadWrite);
  if (!connection) return std::unexpected(connection.error());
  const sqlite::SchemaInfo schema{"the logs", kLogSteps};
  if (auto ready = sqlite::prepare_schema(*connection, schema, kLogTablesAlwaysChecked); !ready) return ready;
  connection_ = std::move(*connection);
  return {};
}

Status LogWriter::reopen_locked() {
  return readers_.while_closed([this]() -> Status {
    statements_.clear();
    connection_.close();
    if (auto opened = open_locked(); !opened) return opened;
    if (auto done = connection_.execute("PRAGMA wal_checkpoint(TRUNCATE)"); !done) return done;
    broken_ = false;
    return {};
  });
}

Status LogWriter::transact(const std::function<Status(LogTransaction&)>& work) {
  std::lock_guard lock(mutex_);
  if (broken_) {
    if (auto reopened = reopen_locked(); !reopened) return reopened;
  }
  Status done;
  {
    auto transaction = sqlite::Transaction::begin(connection_);
    if (!transaction) {
      done = std::unexpected(transaction.error());
    } else {
      LogTransaction open(connection_, statements_);
      done = work(open);
      if (done) done = transaction->commit();
    }
  }
  if (!done && done.error().kind == ErrorKind::kIo) broken_ = true;
  return done;
}

}  // namespace teson
