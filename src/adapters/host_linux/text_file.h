// Small files of /proc and /sys.
#pragma once

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace teson {

inline Result<std::string> read_text_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (!file) return std::unexpected(make_errno_error("open " + path, errno != 0 ? errno : ENOENT));
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

inline std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace teson
