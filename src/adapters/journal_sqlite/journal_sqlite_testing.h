// A data directory of a test's own, and the journal in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "adapters/journal_sqlite/journal_sqlite.h"

namespace teson::testing_support {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "teson-journal-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// An open data directory with its journal: what a server holds.
struct OpenJournal {
  DataDirectory directory;
  std::unique_ptr<SqliteJournal> journal;
};

inline Result<OpenJournal> open_journal(const std::string& path, JournalOptions options = {}) {
  auto directory = open_data_directory(path);
  if (!directory) return std::unexpected(directory.error());
  auto journal = SqliteJournal::open(*directory, std::move(options));
  if (!journal) return std::unexpected(journal.error());
  return OpenJournal{std::move(*directory), std::move(*journal)};
}

}  // namespace teson::testing_support
