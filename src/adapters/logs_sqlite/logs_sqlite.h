// The log store (ports/log_store.h) in <data>/logs.db: a database of its own, so that a flood of log lines never stands
// in the way of the journal's commits.
//
// Thread: any. Writers take turns at one connection; readers have read-only connections.
#pragma once

#include <memory>
#include <string>

#include "ports/log_store.h"

namespace teson {

class SqliteLogStore : public LogStore {
 public:
  // `data`: the data directory, which its owner has locked.
  static Result<std::unique_ptr<SqliteLogStore>> open(const std::string& data);
};

}  // namespace teson
