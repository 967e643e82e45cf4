// A running hash of facts, over every field that the journal keeps (codec/fields.h names them): two runs with the same
// hash had the same trace. For comparing runs of one build, not for keeping.
#pragma once

#include <cstdint>

#include "domain/fact.h"

namespace teson::sim {

inline constexpr uint64_t kFirstHash = 0xCBF29CE484222325ULL;

uint64_t hash_on(uint64_t hash, const Fact& fact);

}  // namespace teson::sim
