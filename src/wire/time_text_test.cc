#include "wire/time_text.h"

#include <gtest/gtest.h>

namespace teson::wire {
namespace {

// date -u -d @1440938160: Sun Aug 30 12:36:00 UTC 2015
constexpr Instant kVector = Instant{1440938160'000'000};

TEST(TimeText, AmzDateBothWays) {
  EXPECT_EQ(amz_date(kVector), "20150830T123600Z");
  EXPECT_EQ(parse_amz_date("20150830T123600Z"), kVector);
  EXPECT_EQ(parse_amz_date("19700101T000000Z"), Instant{0});
}

TEST(TimeText, AmzDateRefusesWhatIsNoDate) {
  for (const char* text :
       {"", "20150830T123600", "20150830T123600z", "20150830T123600Z ", "20150230T123600Z", "20150830T243600Z",
        "20150830T126000Z", "2015-08-30T12:36:00Z", "19691231T235959Z", "20151330T123600Z", "20150800T123600Z"}) {
    EXPECT_EQ(parse_amz_date(text), std::nullopt) << text;
  }
}

TEST(TimeText, Iso8601KeepsFractionsAndOffsets) {
  EXPECT_EQ(iso8601(kVector + Duration{123'999}), "2015-08-30T12:36:00.123Z");
  EXPECT_EQ(parse_iso8601("2015-08-30T12:36:00Z"), kVector);
  EXPECT_EQ(parse_iso8601("2015-08-30T12:36:00.5Z"), kVector + Duration{500'000});
  EXPECT_EQ(parse_iso8601("2015-08-30T12:36:00.123456789Z"), kVector + Duration{123'456});
  EXPECT_EQ(parse_iso8601("2015-08-30T14:36:00+02:00"), kVector);
  EXPECT_EQ(parse_iso8601("2015-08-30T09:06:00-03:30"), kVector);
  for (const char* text :
       {"2015-08-30T12:36:00", "2015-08-30 12:36:00Z", "2015-08-30T12:36:00.Z", "2015-08-30T12:36:00.1234567890Z",
        "2015-08-30T12:36:00+2:00", "2015-08-30T12:36:00+02:60"}) {
    EXPECT_EQ(parse_iso8601(text), std::nullopt) << text;
  }
}

TEST(TimeText, HttpDateBothWays) {
  EXPECT_EQ(http_date(kVector), "Sun, 30 Aug 2015 12:36:00 GMT");
  EXPECT_EQ(parse_http_date("Sun, 30 Aug 2015 12:36:00 GMT"), kVector);
  EXPECT_EQ(parse_http_date("Sun, 30 Aug 2015 12:36:00 UTC"), std::nullopt);
  EXPECT_EQ(parse_http_date("30 Aug 2015 12:36:00 GMT"), std::nullopt);
}

}  // namespace
}  // namespace teson::wire
