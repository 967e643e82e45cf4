#include "api/logs/line_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "api/logs/temp_dir_testing.h"

namespace teson::logs {
namespace {

class LineFileTest : public ::testing::Test {
 protected:
  LineFile open(const std::string& bytes, bool complete) {
    std::ofstream(path_, std::ios::binary) << bytes;
    auto file = LineFile::open(path_, complete);
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return std::move(*file);
  }

  TempDir directory_;
  std::string path_ = directory_.path() + "/stdout.log";
};

std::vector<Line> forward(LineFile& file) {
  std::vector<Line> lines;
  while (auto line = file.next(lines.empty() ? 0 : lines.back().end)) lines.push_back(*line);
  EXPECT_TRUE(file.status().has_value());
  return lines;
}

std::vector<Line> backward(LineFile& file) {
  std::vector<Line> lines;
  while (auto line = file.previous(lines.empty() ? file.end() : lines.back().begin)) lines.push_back(*line);
  EXPECT_TRUE(file.status().has_value());
  return {lines.rbegin(), lines.rend()};
}

std::vector<std::string> texts(const std::vector<Line>& lines) {
  std::vector<std::string> result;
  for (const Line& line : lines) result.push_back(line.text);
  return result;
}

std::vector<std::pair<uint64_t, uint64_t>> ranges(const std::vector<Line>& lines) {
  std::vector<std::pair<uint64_t, uint64_t>> result;
  for (const Line& line : lines) result.emplace_back(line.begin, line.end);
  return result;
}

TEST_F(LineFileTest, LinesAreEventsWithTheirOffsets) {
  auto file = open("one\n\ntwo\r\nthr\ree\n", false);
  const auto lines = forward(file);
  EXPECT_EQ(texts(lines), (std::vector<std::string>{"one", "", "two", "thr\ree"}));
  EXPECT_EQ(ranges(lines), (std::vector<std::pair<uint64_t, uint64_t>>{{0, 4}, {4, 5}, {5, 10}, {10, 17}}));
  EXPECT_EQ(file.end(), 17u);
  EXPECT_EQ(ranges(backward(file)), ranges(lines));
}

TEST_F(LineFileTest, UnterminatedLastLineCountsOnlyInACompleteFile) {
  auto growing = open("whole\nrest", false);
  EXPECT_EQ(texts(forward(growing)), (std::vector<std::string>{"whole"}));
  EXPECT_EQ(growing.end(), 6u);
  auto ended = open("whole\nrest", true);
  EXPECT_EQ(texts(forward(ended)), (std::vector<std::string>{"whole", "rest"}));
  EXPECT_EQ(texts(backward(ended)), (std::vector<std::string>{"whole", "rest"}));
  EXPECT_EQ(ended.end(), 10u);
}

TEST_F(LineFileTest, AbsentAndEmptyFilesHaveNoEvents) {
  auto absent = LineFile::open(directory_.path() + "/absent", true);
  ASSERT_TRUE(absent.has_value());
  EXPECT_EQ(absent->end(), 0u);
  EXPECT_FALSE(absent->next(0));
  EXPECT_FALSE(absent->previous(0));
  auto empty = open("", false);
  EXPECT_EQ(empty.end(), 0u);
  auto unterminated = open("x", false);
  EXPECT_EQ(unterminated.end(), 0u);
}

TEST_F(LineFileTest, DirectoryIsNotALog) {
  EXPECT_EQ(LineFile::open(directory_.path(), true).error().kind, ErrorKind::kDenied);
}

TEST_F(LineFileTest, BytesBeyondTheLimitDoNotCount) {
  open("one\ntwo\nthree\n", false);
  auto file = LineFile::open(path_, false, 6);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(texts(forward(*file)), (std::vector<std::string>{"one"}));
}

TEST_F(LineFileTest, LineOf192KiBStaysWholeAndALongerOneIsCutAtMost256KiB) {
  constexpr uint64_t kKiB = 1024;
  const std::string whole(192 * kKiB - 1, 'w');
  // Starts at 192 KiB, so cuts may fall from 384 KiB on.
  auto file = open(whole + "\n" + std::string(500 * kKiB, 'x') + "\nend\n", true);
  const auto lines = forward(file);
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;
  EXPECT_EQ(ranges(lines), (Ranges{{0, 192 * kKiB},
                                   {192 * kKiB, 384 * kKiB},
                                   {384 * kKiB, 448 * kKiB},
                                   {448 * kKiB, 512 * kKiB},
                                   {512 * kKiB, 576 * kKiB},
                                   {576 * kKiB, 640 * kKiB},
                                   {640 * kKiB, 692 * kKiB + 1},
                                   {692 * kKiB + 1, 692 * kKiB + 5}}));
  EXPECT_EQ(ranges(backward(file)), ranges(lines));
}

TEST_F(LineFileTest, CutSparesAUtf8Character) {
  std::string text = "ab";
  while (text.size() < 300 * 1024) text += "\xE2\x82\xAC";  // three bytes each: 192 KiB falls inside one
  auto file = open(text, true);
  const auto lines = forward(file);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].end, 192u * 1024 - 1);  // 2 + 3 * 65535 = 196607
  for (size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(lines[i].text.substr(0, 3), "\xE2\x82\xAC");
  EXPECT_EQ(ranges(backward(file)), ranges(lines));
}

// The same bytes, seen while they grow, give the same events at the same places.
TEST_F(LineFileTest, GrowthNeverMovesAnEvent) {
  std::string bytes;
  for (const size_t length : {10, 70'000, 196'607, 196'608, 196'609, 262'143, 262'144, 262'145, 900'000, 0, 3})
    bytes += std::string(length, static_cast<char>('a' + length % 26)) + "\n";
  auto whole = open(bytes, true);
  const auto expected = ranges(forward(whole));
  for (const auto& [begin, end] : expected) EXPECT_LE(end - begin, 256u * 1024 + 1);
  size_t seen = 0;
  for (size_t size = 1; size <= bytes.size(); size += 61'003) {
    auto part = LineFile::open(path_, false, size);
    ASSERT_TRUE(part.has_value());
    const auto now = ranges(forward(*part));
    ASSERT_LE(now.size(), expected.size());
    EXPECT_TRUE(std::equal(now.begin(), now.end(), expected.begin())) << "at size " << size;
    EXPECT_EQ(ranges(backward(*part)), now) << "at size " << size;
    EXPECT_GE(now.size(), seen);
    seen = now.size();
  }
}

TEST_F(LineFileTest, BoundariesAreRecognised) {
  auto file = open("one\ntwo\nrest", false);
  for (const uint64_t offset : {0, 4, 8}) EXPECT_TRUE(file.is_boundary(offset)) << offset;
  for (const uint64_t offset : {1, 3, 5, 9, 12, 100}) EXPECT_FALSE(file.is_boundary(offset)) << offset;
  EXPECT_EQ(file.boundary_at_or_before(6), 4u);
  EXPECT_EQ(file.boundary_at_or_before(11), 8u);
}

TEST_F(LineFileTest, FiftyThousandLinesCompleteAndInOrderBothWays) {
  std::string bytes;
  for (int i = 0; i < 50'000; ++i) bytes += "line " + std::to_string(i) + "\n";
  auto file = open(bytes, true);
  const auto lines = forward(file);
  ASSERT_EQ(lines.size(), 50'000u);
  for (size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i].text, "line " + std::to_string(i));
  EXPECT_EQ(ranges(backward(file)), ranges(lines));
}

// 64 MiB without a newline: the last event costs a search, not the file.
TEST_F(LineFileTest, EndOfAHugeFileIsReadForLittle) {
  std::ofstream(path_, std::ios::binary) << "";
  std::filesystem::resize_file(path_, 64u << 20);
  auto file = LineFile::open(path_, true);
  ASSERT_TRUE(file.has_value());
  const auto last = file->previous(file->end());
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->begin, (64u << 20) - 64u * 1024);
  EXPECT_EQ(last->text, std::string(64 * 1024, '\0'));
  EXPECT_LE(file->bytes_read(), 512u * 1024);
}

}  // namespace
}  // namespace teson::logs
