// History (ports/history.h) out of the journal's database, through read-only connections.
#pragma once

#include "adapters/sqlite/read_pool.h"
#include "ports/history.h"

namespace teson {

class SqliteHistory final : public History {
 public:
  explicit SqliteHistory(sqlite::ReadPool& pool) : pool_(pool) {}

  Result<std::vector<Job>> find(std::span<const JobId> ids) const override;
  Result<std::vector<Job>> list(const HistoryQuery& query) const override;
  Result<std::optional<LogStreamRecord>> find_stream(const std::string& name) const override;
  Result<std::vector<LogStreamRecord>> list_streams(const std::string& prefix, const std::string& after,
                                                    int limit) const override;

 private:
  sqlite::ReadPool& pool_;
};

}  // namespace teson
