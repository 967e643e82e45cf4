#include "adapters/sqlite/schema.h"

#include <fmt/format.h>

#include <charconv>

namespace teson::sqlite {
namespace {

constexpr int64_t kWholeCheckBytes = int64_t{64} << 20;

Result<int64_t> query_integer(Connection& connection, std::string_view sql) {
  auto text = connection.query_text(sql);
  if (!text) return std::unexpected(text.error());
  int64_t number = 0;
  const char* const end = text->data() + text->size();
  if (std::from_chars(text->data(), end, number).ptr != end || text->empty()) {
    return fail(ErrorKind::kIo, fmt::format("database: '{}' is not a number, from {}", *text, sql));
  }
  return number;
}

Error damaged(const std::string& what, const std::string& finding) {
  return Error{
      ErrorKind::kIo,
      fmt::format("the database of {} is damaged ({}): restore it from a backup, or move it aside and save what "
                  "can be saved with 'sqlite3 FILE .recover'",
                  what, finding)};
}

Status check_pages(Connection& connection, const std::string& what, const std::string& pragma) {
  auto finding = connection.query_text(pragma);
  if (!finding) return std::unexpected(finding.error());
  if (*finding != "ok") return std::unexpected(damaged(what, *finding));
  return {};
}

Status check_integrity(Connection& connection, const std::string& what, std::span<const char* const> always_check) {
  auto pages = query_integer(connection, "PRAGMA page_count");
  if (!pages) return std::unexpected(pages.error());
  auto page_size = query_integer(connection, "PRAGMA page_size");
  if (!page_size) return std::unexpected(page_size.error());
  if (*pages * *page_size <= kWholeCheckBytes) return check_pages(connection, what, "PRAGMA quick_check(1)");
  for (const char* table : always_check) {
    if (auto done = check_pages(connection, what, fmt::format("PRAGMA quick_check('{}')", table)); !done) return done;
  }
  return {};
}

// 0 for a database that is still empty.
Result<int64_t> schema_version(Connection& connection, const std::string& what) {
  auto tables = query_integer(connection, "SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());
  if (*tables == 0) return 0;
  auto ours = query_integer(connection, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'meta'");
  if (!ours) return std::unexpected(ours.error());
  if (*ours == 0) {
    return invalid(
        fmt::format("the database of {} is of another program: its tables are not teson's. Choose another "
                    "data directory",
                    what));
  }
  return query_integer(connection, "SELECT value FROM meta WHERE key = 'schema_version'");
}

Status take_step(Connection& connection, const char* step, int64_t version) {
  auto transaction = Transaction::begin(connection);
  if (!transaction) return std::unexpected(transaction.error());
  if (version == 0) {
    auto made = connection.execute("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
    if (!made) return made;
  }
  if (auto done = connection.execute(step); !done) return done;
  auto noted = connection.execute(
      fmt::format("INSERT OR REPLACE INTO meta(key, value) VALUES('schema_version', '{}')", version + 1));
  if (!noted) return noted;
  return transaction->commit();
}

}  // namespace

Status prepare_writer(Connection& connection) {
  auto mode = connection.query_text("PRAGMA journal_mode = WAL");
  if (!mode) return std::unexpected(mode.error());
  if (*mode != "wal") {
    return fail(ErrorKind::kIo,
                "the data directory's file system cannot hold a database in WAL mode (shared memory "
                "is missing; is it a network file system?): choose a local one");
  }
  // FULL: a COMMIT that returned is on the disk.
  return connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY");
}

Status prepare_schema(Connection& connection, const SchemaInfo& schema, std::span<const char* const> always_check) {
  if (auto ready = prepare_writer(connection); !ready) return ready;
  auto version = schema_version(connection, schema.what);
  if (!version) return std::unexpected(version.error());
  const auto known = static_cast<int64_t>(schema.steps.size());
  if (*version > known) {
    return invalid(
        fmt::format("the database of {} has schema {}, this teson knows schemas up to {}: it was written by a "
                    "newer teson. Use that one, or another data directory",
                    schema.what, *version, known));
  }
  if (*version > 0) {
    if (auto whole = check_integrity(connection, schema.what, always_check); !whole) return whole;
  }
  for (int64_t step = *version; step < known; ++step) {
    if (auto done = take_step(connection, schema.steps[step], step); !done) return done;
  }
  return {};
}

}  // namespace teson::sqlite
