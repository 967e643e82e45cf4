#include "adapters/sqlite/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

#include "base/check.h"

namespace teson::sqlite {
namespace {

constexpr int kBusyMillis = 5'000;

std::string advice(int code) {
  switch (code) {
    case SQLITE_FULL:
      return "; free space on this file system";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; the file is damaged or not a database: restore it from a backup, or move it aside and save what can be "
             "saved with 'sqlite3 FILE .recover'";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another program holds the database: close it";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return "; check the owner and the permissions of the file and its directory";
    default:
      return "";
  }
}

Error database_error(sqlite3* db, int code) {
  const int primary = code & 0xFF;
  const char* const file = sqlite3_db_filename(db, "main");
  std::string message = fmt::format("database {}: {}", file != nullptr ? file : "?", sqlite3_errmsg(db));
  const int system_errno = sqlite3_system_errno(db);
  const bool from_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
  if (from_system && system_errno != 0) message += fmt::format(" ({})", std::strerror(system_errno));
  return Error{primary == SQLITE_FULL ? ErrorKind::kUnavailable : ErrorKind::kIo, message + advice(primary)};
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Connection::Closer::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Statement& Statement::bind(int parameter, int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), parameter, value);
  TESON_CHECK(code == SQLITE_OK, "bind: no such parameter, or the statement was not reset");
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  const char* const data = text.data() != nullptr ? text.data() : "";
  const int code = sqlite3_bind_text64(statement_.get(), parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  TESON_CHECK(code == SQLITE_OK, "bind: no such parameter, too long a text, or the statement was not reset");
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view bytes) {
  const char* const data = bytes.data() != nullptr ? bytes.data() : "";
  const int code = sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_STATIC);
  TESON_CHECK(code == SQLITE_OK, "bind: no such parameter, too long a blob, or the statement was not reset");
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  const int code = sqlite3_bind_null(statement_.get(), parameter);
  TESON_CHECK(code == SQLITE_OK, "bind: no such parameter, or the statement was not reset");
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(database_error(sqlite3_db_handle(statement_.get()), code));
}

Status Statement::run() {
  const auto row = step();
  reset();
  if (!row) return std::unexpected(row.error());
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string_view Statement::text(int column) const {
  const void* const data = sqlite3_column_blob(statement_.get(), column);  // as stored: no conversion
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

Result<Connection> Connection::open(const std::string& path, Access access) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= access == Access::kReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  Connection connection;
  connection.db_.reset(db);
  if (code != SQLITE_OK) {
    if (db == nullptr) return fail(ErrorKind::kIo, "database " + path + ": no memory");
    Error error = database_error(db, code);
    if (!error.message.contains(path)) error.message = path + ": " + error.message;
    return std::unexpected(std::move(error));
  }
  sqlite3_busy_timeout(db, kBusyMillis);
  return connection;
}

Status Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(database_error(db_.get(), code));
  return {};
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return std::unexpected(database_error(db_.get(), code));
  Statement statement;
  statement.statement_.reset(raw);
  return statement;
}

Result<std::string> Connection::query_text(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return not_found("no row for " + std::string(sql));
  return std::string(statement->text(0));
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }
int Connection::changes() const { return sqlite3_changes(db_.get()); }

Result<Transaction> Transaction::begin(Connection& connection) {
  if (auto begun = connection.execute("BEGIN IMMEDIATE"); !begun) return std::unexpected(begun.error());
  return Transaction(connection);
}

Transaction::~Transaction() {
  // SQLite itself rolls back on some errors; a second ROLLBACK would only fail.
  if (connection_ != nullptr && connection_->in_transaction()) (void)connection_->execute("ROLLBACK");
}

Status Transaction::commit() {
  auto done = connection_->execute("COMMIT");
  if (done) connection_ = nullptr;
  return done;
}

}  // namespace teson::sqlite
