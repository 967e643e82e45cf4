// The writing half of the log store: one connection, one call at a time, each call a transaction.
//
// After an I/O error the connection is opened anew on the next call: what is in memory is not trusted then.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/read_pool.h"

namespace teson {

// What a transaction works with: statements prepared once per connection.
class LogTransaction {
 public:
  LogTransaction(sqlite::Connection& connection, std::map<std::string, sqlite::Statement, std::less<>>& statements)
      : connection_(connection), statements_(statements) {}

  // Reset, ready to be bound.
  Result<sqlite::Statement*> statement(const char* sql);
  // The first column of the first row, if there is one. `bind` gets the statement.
  using Bind = std::function<void(sqlite::Statement&)>;
  Result<std::optional<int64_t>> query(const char* sql, const Bind& bind);
  // The number of rows changed.
  Result<int> change(const char* sql, const Bind& bind);

 private:
  sqlite::Connection& connection_;
  std::map<std::string, sqlite::Statement, std::less<>>& statements_;
};

class LogWriter {
 public:
  LogWriter(std::string path, sqlite::ReadPool& readers) : path_(std::move(path)), readers_(readers) {}

  Status open();
  // Commits what `work` did, durably; rolls back when it fails.
  Status transact(const std::function<Status(LogTransaction&)>& work);

 private:
  Status open_locked();
  Status reopen_locked();

  const std::string path_;
  sqlite::ReadPool& readers_;
  std::mutex mutex_;
  sqlite::Connection connection_;
  std::map<std::string, sqlite::Statement, std::less<>> statements_;
  bool broken_ = false;
};

}  // namespace teson
