// A thin hold on SQLite: connections and prepared statements as values, failures as Result.
//
// Thread: a connection and its statements belong to one thread at a time (SQLITE_OPEN_NOMUTEX); nothing here locks.
// Failure: kUnavailable for a full disk (SQLITE_FULL: the statement did nothing), kIo for everything else that the
// file system or a damaged file causes, with SQLite's own words and what a person can do about it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace teson::sqlite {

class Statement {
 public:
  Statement() = default;

  // Parameters count from 1. Bound text and blobs are copied by SQLite only where `step` needs them later: they must
  // live until reset().
  Statement& bind(int parameter, int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_blob(int parameter, std::string_view bytes);
  Statement& bind_null(int parameter);

  // True: a row is there. False: done. The statement must be reset before it is stepped or bound again.
  Result<bool> step();
  // Steps once and resets: for statements without rows.
  Status run();
  void reset();

  int64_t integer(int column) const;
  std::string_view text(int column) const;  // valid until the next step or reset
  bool is_null(int column) const;

 private:
  friend class Connection;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

// Resets the statement at the end of a scope, however it is left: an open statement holds a read transaction.
class ResetOnExit {
 public:
  explicit ResetOnExit(Statement& statement) : statement_(statement) {}
  ~ResetOnExit() { statement_.reset(); }
  ResetOnExit(const ResetOnExit&) = delete;
  ResetOnExit& operator=(const ResetOnExit&) = delete;

 private:
  Statement& statement_;
};

enum class Access { kReadWrite, kReadOnly };

class Connection {
 public:
  Connection() = default;

  // Creates the file (0600) when opened for writing. Waits for locks of other programs for up to 5 s.
  static Result<Connection> open(const std::string& path, Access access);

  // One or more statements without parameters and without interesting rows.
  Status execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  // The first column of the first row; kNotFound when there is no row.
  Result<std::string> query_text(std::string_view sql);

  bool is_open() const { return db_ != nullptr; }
  bool in_transaction() const;
  int changes() const;  // rows that the last statement changed
  void close() { db_.reset(); }

 private:
  struct Closer {
    void operator()(sqlite3* db) const;
  };
  std::unique_ptr<sqlite3, Closer> db_;
};

// BEGIN IMMEDIATE now; ROLLBACK at the end of the scope unless commit() succeeded.
class Transaction {
 public:
  static Result<Transaction> begin(Connection& connection);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;

  Status commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace teson::sqlite
