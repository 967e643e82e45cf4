#include "api/logs/put_batch.h"

#include <gtest/gtest.h>

namespace teson::logs {
namespace {

using wire::Json;

std::string refusal(const std::vector<Json>& events) {
  const Json body = {{"logEvents", events}};
  const auto batch = batch_field(wire::JsonValue(body, ""));
  return batch ? "" : batch.error().message;
}

Json event(int64_t millis, size_t length) { return {{"timestamp", millis}, {"message", std::string(length, 'x')}}; }

std::vector<Json> times(size_t count, const Json& one) { return std::vector<Json>(count, one); }

TEST(PutBatch, LimitsHoldAtTheirEdges) {
  EXPECT_EQ(refusal({event(0, 262'118)}), "");  // with 26 bytes: 256 KiB
  EXPECT_TRUE(refusal({event(0, 262'119)}).starts_with("Log event too large"));
  EXPECT_EQ(refusal(times(8, event(0, 131'046))), "");  // with 26 bytes each: 1 MiB
  std::vector<Json> over = times(7, event(0, 131'046));
  over.push_back(event(0, 131'047));
  EXPECT_TRUE(refusal(over).starts_with("Upload too large"));
  EXPECT_EQ(refusal(times(10'000, event(0, 1))), "");
  EXPECT_NE(refusal(times(10'001, event(0, 1))), "");
  EXPECT_NE(refusal({}), "");
  EXPECT_EQ(refusal({event(0, 1), event(86'400'000, 1)}), "");
  EXPECT_NE(refusal({event(0, 1), event(86'400'001, 1)}), "");
}

TEST(PutBatch, OrderAndShapeAreChecked) {
  EXPECT_TRUE(refusal({event(5, 1), event(4, 1)}).contains("chronological"));
  EXPECT_NE(refusal({event(0, 0)}), "");
  EXPECT_NE(refusal({event(-1, 1)}), "");
  EXPECT_NE(refusal({Json{{"timestamp", "now"}, {"message", "x"}}}), "");
  EXPECT_NE(refusal({Json{{"timestamp", 1}}}), "");
  EXPECT_NE(refusal({Json(5)}), "");
}

TEST(PutBatch, BytesAreCountedAsUtf8) {
  std::string text;
  for (int i = 0; i < 131'059; ++i) text += "ñ";  // 262,118 bytes
  EXPECT_EQ(refusal({Json{{"timestamp", 0}, {"message", text}}}), "");
  EXPECT_NE(refusal({Json{{"timestamp", 0}, {"message", text + "x"}}}), "");
}

TEST(PutBatch, AcceptedIsWhatLiesBetweenTooOldAndTooNew) {
  const std::vector<NewLogEvent> events = {{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}};
  const auto accepted = [&](const Rejected& rejected) { return rejected.accepted(events).size(); };
  EXPECT_EQ(accepted({0, 0, 4}), 4u);
  EXPECT_EQ(accepted({1, 2, 3}), 1u);
  EXPECT_EQ(accepted({4, 0, 4}), 0u);
  EXPECT_EQ(accepted({3, 0, 2}), 0u);
}

}  // namespace
}  // namespace teson::logs
