#include "cli/text.h"

#include <gtest/gtest.h>

#include <clocale>

#include "cli/program_output.h"

namespace teson::cli {
namespace {

TEST(ShellQuoted, ClosesAndReopensAroundAQuote) {
  EXPECT_EQ(shell_quoted("plain"), "'plain'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

// The judge is a real shell.
TEST(ShellQuoted, AShellReadsBackTheVeryBytes) {
  for (const std::string text : {"a b", "$HOME `id` \\ \"x\"", "it's 'so'", "line\nline", "!!", "é\x01*?[a]~"}) {
    const auto read = program_output({"/bin/sh", "-c", "printf %s " + shell_quoted(text)}, Duration::seconds(20));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, text);
  }
}

TEST(ShellCommand, QuotesOnlyWhatAShellWouldChange) {
  EXPECT_EQ(shell_command({"python3", "train.py", "--name", "a b", "", "x=$Y"}),
            "python3 train.py --name 'a b' '' 'x=$Y'");
}

TEST(Printable, LeavesNoControlCharacter) {
  EXPECT_EQ(printable("a\tb\nc\r"), "a\\tb\\nc\\r");
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");  // C1 "control sequence introducer"
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "evil"),
            "\\u202eevil");  // right-to-left override
  EXPECT_EQ(printable("caf\xc3\xa9"), "caf\xc3\xa9");
}

TEST(Printable, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\\xffb");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong '/'
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

TEST(IsUtf8, TellsTheWholeFromTheBroken) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xf0\x9f\x98\x80"));
  EXPECT_FALSE(is_utf8("a\xc3"));
  EXPECT_FALSE(is_utf8("\xf5\x80\x80\x80"));
}

TEST(CutToWidth, EndsInAnEllipsisWithinTheWidth) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdef", 4), "abc…");
  EXPECT_EQ(cut_to_width("ééééé", 3), "éé…");
  EXPECT_EQ(cut_to_width("日本語", 4), "日…");  // each two columns wide
  EXPECT_EQ(cut_to_width("abc", 0), "");
  EXPECT_EQ(display_width("日本語"), 6u);
}

}  // namespace
}  // namespace teson::cli
