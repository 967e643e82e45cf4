// The data directory, held by one server at a time.
//
// Ownership: the lock lives as long as the value; the kernel drops it when the process dies, however it dies. Children
// must not inherit it: the descriptor is close-on-exec.
#pragma once

#include <string>

#include "base/result.h"

namespace teson {

class DataDirectory {
 public:
  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

  const std::string& path() const { return path_; }

 private:
  friend Result<DataDirectory> open_data_directory(const std::string& path);
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;
};

// Makes the directory (0700, parents too) if it is absent, proves that it can be written, and locks <path>/lock.
// kConflict: another process holds it, named by its pid. kDenied, kInvalid, kIo, kUnavailable: what to do is said.
Result<DataDirectory> open_data_directory(const std::string& path);

}  // namespace teson
