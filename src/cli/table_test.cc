#include "cli/table.h"

#include <gtest/gtest.h>

namespace teson::cli {
namespace {

Table sample() {
  Table table({{"ID"}, {"TRIES", Align::kRight}, {"REASON"}});
  table.add({"1f3c", "1", ""});
  table.add({"22aa44", "12", "Host EC2 (instance i-0) terminated."});
  return table;
}

TEST(Table, AlignsColumnsByTheirWidestCell) {
  EXPECT_EQ(sample().render(0),
            "ID      TRIES  REASON\n"
            "1f3c        1  -\n"
            "22aa44     12  Host EC2 (instance i-0) terminated.\n");
}

TEST(Table, CutsTheLastColumnToTheWidth) {
  EXPECT_EQ(sample().render(30),
            "ID      TRIES  REASON\n"
            "1f3c        1  -\n"
            "22aa44     12  Host EC2 (inst…\n");
}

TEST(Table, LeavesTwelveColumnsHoweverNarrow) {
  EXPECT_EQ(sample().render(5),
            "ID      TRIES  REASON\n"
            "1f3c        1  -\n"
            "22aa44     12  Host EC2 (i…\n");
}

TEST(Table, KeepsEachRowOnItsLine) {
  Table table({{"NAME"}, {"STATUS"}});
  table.add({"two\nlines", "\x1b[2J"});
  EXPECT_EQ(table.render(0),
            "NAME        STATUS\n"
            "two\\nlines  \\x1b[2J\n");
}

TEST(Table, ShowsMissingCellsAndNoRows) {
  Table table({{"A"}, {"B"}});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.render(0), "A  B\n");
  table.add({"x"});
  EXPECT_EQ(table.render(0), "A  B\nx  -\n");
}

}  // namespace
}  // namespace teson::cli
