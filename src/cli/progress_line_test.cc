#include "cli/progress_line.h"

#include <gtest/gtest.h>

namespace teson::cli {
namespace {

Instant at(int64_t seconds) { return Instant::from_millis(seconds * 1000); }

TEST(ProgressLine, OnATerminalIsOneLineThatChanges) {
  std::string out;
  ProgressLine line(true, 12, [&](std::string_view text) { out += text; });
  line.show("1 of 10", at(100));
  line.show("1 of 10", at(100));
  line.show("2 of 10, a long one", at(100));
  EXPECT_EQ(out, "1 of 10\r\x1b[K2 of 10, a…");
  out.clear();
  line.message("the server is back");
  line.show("2 of 10", at(101));
  line.end("2 of 10");
  EXPECT_EQ(out, "\r\x1b[Kthe server is back\n2 of 10\n");
}

TEST(ProgressLine, ElsewhereIsALineAnInterval) {
  std::string out;
  ProgressLine line(false, 0, [&](std::string_view text) { out += text; });
  line.show("1 of 10", at(100));
  line.show("2 of 10", at(109));
  line.show("3 of 10", at(110));
  line.show("3 of 10", at(130));
  line.show("4 of 10", at(131));
  EXPECT_EQ(out, "1 of 10\n3 of 10\n4 of 10\n");
  out.clear();
  line.end("10 of 10");
  EXPECT_EQ(out, "10 of 10\n");
  line.end("10 of 10");
  EXPECT_EQ(out, "10 of 10\n");
}

}  // namespace
}  // namespace teson::cli
