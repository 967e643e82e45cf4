// What kind of file lies somewhere, in words: for messages about one that lies where another should. Any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace teson {

// "a directory", "a FIFO", "a symbolic link", "a regular file", ...
std::string_view file_kind(mode_t mode);
// Of what lies at `path` itself: a link is a link. Empty: nothing is there, or it cannot be looked at.
std::string_view file_kind_at(const std::string& path);

}  // namespace teson
