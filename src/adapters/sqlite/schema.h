// A database's tables, made and brought forward step by step.
//
// Steps are only ever appended: step N takes schema N to N + 1, and a released step is never edited.
#pragma once

#include <span>
#include <string>

#include "adapters/sqlite/connection.h"

namespace teson::sqlite {

struct SchemaInfo {
  std::string what;  // "the journal", for messages
  std::span<const char* const> steps;
};

// WAL, synchronous=FULL, then every missing step, each in a transaction of its own. Refuses a database that a newer
// program wrote, one that is not ours, and one that is damaged as far as can be told in about a tenth of a second:
// small files (64 MiB) are checked whole, of larger ones the tables named in `always_check`.
Status prepare_schema(Connection& connection, const SchemaInfo& schema, std::span<const char* const> always_check);

// Pragmas of every writing connection, also one that is reopened later.
Status prepare_writer(Connection& connection);

}  // namespace teson::sqlite
