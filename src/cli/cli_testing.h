// Whole commands in tests: a data directory of their own, and what a command printed.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/fake_batch_testing.h"

namespace teson::cli {

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

class Cli : public testing::Test {
 protected:
  Cli();
  ~Cli() override;

  // As if `batch` were the data directory's running server.
  void attach(FakeBatch& batch) const;
  // `teson --data DIR` and these words.
  Ran run(std::vector<std::string> words) const;

  std::string data_;
  Hooks hooks_;
  std::optional<ServeFlags> served_;
};

}  // namespace teson::cli
