// Domain values as JSON text, for whatever must outlive a process: the journal, snapshots, the archive.
//
// The format is a promise: an old journal loads for ever (README.md has the rules for changing it).
// Thread: any; no state. Failure: a text that cannot be understood is kInvalid, with the path of the field at fault.
// Strings that are not UTF-8 are written with U+FFFD for each wrong byte: JSON has no other way to hold them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/fact.h"
#include "domain/snapshot.h"

namespace teson::codec {

// One line, no newline in it: {"kind":"job_ready","at_us":1,"body":{...}}.
std::string encode(const Fact& fact);
Result<Fact> decode_fact(std::string_view text);

// One line.
std::string encode(const Job& job);
Result<Job> decode_job(std::string_view text);

// Many lines, each a JSON object and ended by a newline: a head with the counts, then one line per value, so that
// neither writing nor reading ever holds a tree of the whole state.
std::string encode(const Snapshot& snapshot);
Result<Snapshot> decode_snapshot(std::string_view text);

}  // namespace teson::codec
