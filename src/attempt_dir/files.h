// Small whole files, written so that a reader sees all of one version or none. Blocking; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"

namespace teson {

enum class Durability {
  kRenameOnly,  // survives the death of any process, not of the machine
  kSynced,      // file and directory reach the disk before the call returns
};

// kNotFound if it does not exist; kInvalid if it is larger than `limit` bytes.
Result<std::string> read_file(const std::string& path, size_t limit = 16u << 20);

// Writes "<path>.new" and renames it. kUnavailable when the disk is full; the old version is then untouched.
Status write_file(const std::string& path, std::string_view bytes, Durability durability, unsigned mode = 0600);

// Writes everything or fails: a short write is continued, EINTR repeated.
Status write_all(int fd, std::string_view bytes, const std::string& what);
Status sync_directory(const std::string& path);
// mkdir -p with 0755.
Status make_directories(const std::string& path);
bool exists(const std::string& path);

// Cuts to at most `limit` bytes, never inside a UTF-8 sequence; "..." marks the cut.
std::string clip(std::string text, size_t limit);

}  // namespace teson
