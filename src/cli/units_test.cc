#include "cli/units.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace teson::cli {
namespace {

int64_t seconds(const char* text) {
  const auto parsed = parse_duration(text);
  return parsed ? parsed->whole_seconds() : -1;
}

int64_t mib(const char* text) { return parse_memory_mib(text).value_or(-1); }

int64_t milli(const char* text) { return parse_milli_vcpus(text).value_or(-1); }

TEST(ParseDuration, TakesUnitsFromTheLargestDown) {
  EXPECT_EQ(seconds("90s"), 90);
  EXPECT_EQ(seconds("8h"), 28'800);
  EXPECT_EQ(seconds("1h30m"), 5'400);
  EXPECT_EQ(seconds("2d1h1m1s"), 2 * 86'400 + 3'661);
}

TEST(ParseDuration, RefusesWhatHasNoUnitOrAWrongOne) {
  for (const char* text : {"", "90", "h", "8x", "8h30", "-5s", "1.5h", " 8h", "8h ", "30m1h", "1h1h", "8H"}) {
    EXPECT_EQ(seconds(text), -1) << text;
  }
}

TEST(ParseDuration, RefusesNothingAndMoreThanACentury) {
  EXPECT_EQ(parse_duration("0s").error().message, "'0s' is no time at all; it must be at least 1s");
  EXPECT_EQ(parse_duration("99999999999999999999s").has_value(), false);
  EXPECT_EQ(parse_duration("36601d").error().message, "'36601d' is too long a duration");
  EXPECT_EQ(seconds("36600d"), 36'600LL * 86'400);
}

TEST(ParseDuration, SaysWhichValueAndWhatWouldBeRight) {
  EXPECT_EQ(parse_duration("8").error().message,
            "'8' is not a duration; write it like 90s, 8h or 1h30m (units d, h, m, s)");
}

TEST(ParseMemory, CountsInPowersOf1024) {
  EXPECT_EQ(mib("4GiB"), 4096);
  EXPECT_EQ(mib("4G"), 4096);
  EXPECT_EQ(mib("4g"), 4096);
  EXPECT_EQ(mib("4096MiB"), 4096);
  EXPECT_EQ(mib("512m"), 512);
  EXPECT_EQ(mib("1.5GiB"), 1536);
  EXPECT_EQ(mib("2T"), 2 * 1024 * 1024);
}

TEST(ParseMemory, RefusesWhatIsNotOne) {
  for (const char* text : {"", "4", "GiB", "4GB", "4XB", "-4GiB", "4 GiB", "4..5G", "4.G", "1.2345G", "0G", "0MiB"}) {
    EXPECT_EQ(mib(text), -1) << text;
  }
  EXPECT_EQ(parse_memory_mib("4096").error().message, "'4096' is not a memory size; write it like 4GiB, 4096MiB or 4G");
}

TEST(ParseMemory, RefusesPartsOfAMebibyteAndAbsurdSizes) {
  EXPECT_EQ(parse_memory_mib("0.3GiB").error().message, "'0.3GiB' is not a whole number of MiB; 307MiB is near");
  EXPECT_EQ(mib("9223372036854775807T"), -1);
  EXPECT_EQ(mib("9000000000000000T"), -1);
}

TEST(ParseVcpus, TakesThreeDecimals) {
  EXPECT_EQ(milli("2"), 2000);
  EXPECT_EQ(milli("0.25"), 250);
  EXPECT_EQ(milli("0.125"), 125);
  for (const char* text : {"", "0", "0.0", "-1", "two", "1.2345", "1.", "2 "}) EXPECT_EQ(milli(text), -1) << text;
}

TEST(DurationText, ShowsTwoUnits) {
  EXPECT_EQ(duration_text(Duration::millis(850)), "850ms");
  EXPECT_EQ(duration_text(Duration::seconds(12)), "12s");
  EXPECT_EQ(duration_text(Duration::seconds(185)), "3m05s");
  EXPECT_EQ(duration_text(Duration::seconds(7'440)), "2h04m");
  EXPECT_EQ(duration_text(Duration::seconds(3 * 86'400 + 7 * 3'600)), "3d07h");
  EXPECT_EQ(duration_text(Duration::seconds(-12)), "-12s");
}

TEST(TimeText, IsLocalTime) {
  setenv("TZ", "UTC-2", 1);
  tzset();
  EXPECT_EQ(time_text(Instant::from_millis(1'440'938'160'000)), "2015-08-30 14:36:00");
  unsetenv("TZ");
  tzset();
  EXPECT_EQ(time_text(Instant{}), "-");
}

TEST(BytesText, ChoosesTheUnit) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(4096), "4.0 KiB");
  EXPECT_EQ(bytes_text(3'435'973'837), "3.2 GiB");
}

}  // namespace
}  // namespace teson::cli
