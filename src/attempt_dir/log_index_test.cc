#include "attempt_dir/log_index.h"

#include <gtest/gtest.h>

#include "attempt_dir/files.h"

namespace teson {
namespace {

TEST(LogIndex, MarksAreLittleEndian) {
  char bytes[kLogMarkBytes];
  encode_log_mark({0x0102, 0x030405}, bytes);
  EXPECT_EQ(std::string(bytes, 16), std::string("\x02\x01\0\0\0\0\0\0\x05\x04\x03\0\0\0\0\0", 16));
}

TEST(LogIndex, AByteIsDatedByTheFirstMarkBeyondIt) {
  const LogIndex index({{10, 1000}, {25, 1200}});
  EXPECT_EQ(index.time_of(0), Instant::from_millis(1000));
  EXPECT_EQ(index.time_of(9), Instant::from_millis(1000));
  EXPECT_EQ(index.time_of(10), Instant::from_millis(1200));  // "before this offset": 10 itself is not covered
  EXPECT_EQ(index.time_of(24), Instant::from_millis(1200));
  EXPECT_EQ(index.time_of(25), std::nullopt);
  EXPECT_EQ(LogIndex().time_of(0), std::nullopt);
}

TEST(LogIndex, AReaderFromATimeStartsAtTheLastMarkNotAfterIt) {
  const LogIndex index({{10, 1000}, {25, 1200}, {30, 1200}, {40, 1500}});
  EXPECT_EQ(index.offset_after(Instant::from_millis(999)), 0u);
  EXPECT_EQ(index.offset_after(Instant::from_millis(1000)), 10u);
  EXPECT_EQ(index.offset_after(Instant::from_millis(1499)), 30u);
  EXPECT_EQ(index.offset_after(Instant::from_millis(9999)), 40u);
}

TEST(LogIndex, HalfARecordAndAClockSetBackDoNoHarm) {
  std::string bytes;
  for (const LogMark& mark : {LogMark{10, 5000}, LogMark{20, 1000}, LogMark{20, 6000}, LogMark{30, 7000}}) {
    char record[kLogMarkBytes];
    encode_log_mark(mark, record);
    bytes.append(record, sizeof record);
  }
  const LogIndex index = LogIndex::decode(bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(index.marks(), (std::vector<LogMark>{{10, 5000}, {20, 5000}}));
}

TEST(LogIndex, AnAbsentFileIsEmpty) {
  const auto index = LogIndex::read("/nonexistent/stdout.idx");
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->marks().empty());
}

}  // namespace
}  // namespace teson
