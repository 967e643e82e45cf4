#include "attempt_dir/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace teson {
namespace {

using testing::HasSubstr;

const AttemptId kId{*JobId::parse("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"), 2};

LaunchOrder full_order() {
  return {.id = kId,
          .job_name = "train ñ",
          .runtime = RuntimeKind::kProcess,
          .image = "host",
          .command = {"python3", "train.py", "--note=a\nb", ""},
          .environment = {{"A", "1"}, {"B", "two = 2"}, {"A", "again"}},
          .limits = {.milli_vcpus = 250, .memory_mib = 64, .gpus = 2},
          .gpus = {0, 3},
          .timeout = Duration::seconds(90),
          .grace = Duration::millis(1500),
          .working_directory = "/srv/x y",
          .log_stream = "train/default/abc",
          .account = UnixAccount{.name = "ana", .uid = 1001, .gid = 1002, .groups = {1002, 27}, .home = "/home/ana"}};
}

std::string spec_with(const std::string& from, const std::string& to) {
  std::string text = encode_order(full_order()).value();
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& spec) {
  const auto order = decode_order(spec, "spec.json");
  return order ? "no error" : order.error().message;
}

TEST(OrderCodec, EveryFieldComesBack) {
  const LaunchOrder order = full_order();
  const auto back = decode_order(encode_order(order).value(), "spec.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->id, order.id);
  EXPECT_EQ(back->job_name, order.job_name);
  EXPECT_EQ(back->image, order.image);
  EXPECT_EQ(back->command, order.command);
  EXPECT_EQ(back->environment, order.environment);
  EXPECT_EQ(back->limits, order.limits);
  EXPECT_EQ(back->gpus, order.gpus);
  EXPECT_EQ(back->timeout, order.timeout);
  EXPECT_EQ(back->grace, order.grace);
  EXPECT_EQ(back->working_directory, order.working_directory);
  EXPECT_EQ(back->log_stream, order.log_stream);
  EXPECT_EQ(back->account, order.account);
}

TEST(OrderCodec, OnlyAnOrderWithAnAccountIsRefusedByOlderPrograms) {
  LaunchOrder order = full_order();
  EXPECT_THAT(encode_order(order).value(), HasSubstr("\"version\":2"));
  order.account.reset();
  EXPECT_THAT(encode_order(order).value(), HasSubstr("\"version\":1"));
}

TEST(OrderCodec, AnAccountThatCannotBeIsRefused) {
  EXPECT_THAT(error_of(spec_with("\"uid\":1001", "\"uid\":-1")), HasSubstr("'uid'"));
  EXPECT_THAT(error_of(spec_with("\"uid\":1001", "\"uid\":4294967295")), HasSubstr("'uid'"));
  EXPECT_THAT(error_of(spec_with("[1002,27]", "[1002,\"a\"]")), HasSubstr("'groups'"));
}

TEST(OrderCodec, AbsentTimeoutStaysAbsent) {
  LaunchOrder order = full_order();
  order.timeout.reset();
  EXPECT_EQ(decode_order(encode_order(order).value(), "spec.json")->timeout, std::nullopt);
}

TEST(OrderCodec, UnknownFieldsAreIgnored) {
  EXPECT_TRUE(decode_order(spec_with("\"version\":2", "\"version\":2,\"colour\":[{}]"), "spec.json"));
}

TEST(OrderCodec, ErrorsNameTheFileTheFieldAndWhatWouldBeRight) {
  EXPECT_EQ(error_of(spec_with("\"grace_us\":1500000", "\"grace_us\":\"soon\"")),
            "spec.json: field 'grace_us' must be a whole number, it is string");
  EXPECT_EQ(error_of(spec_with("\"grace_us\":1500000", "\"grace_us\":null")),
            "spec.json: field 'grace_us' is missing: it must be a whole number");
  EXPECT_THAT(error_of(spec_with("\"attempt\":2", "\"attempt\":0")),
              HasSubstr("field 'attempt' is 0: it must be from 1"));
  EXPECT_EQ(error_of(spec_with("0a1b2c3d-", "0a1b2c3d_")),
            "spec.json: field 'job' is '0a1b2c3d_4e5f-4a6b-8c7d-9e0f1a2b3c4d': it must be a job id");
  EXPECT_THAT(error_of(spec_with("\"version\":2", "\"version\":3")), HasSubstr("use a newer teson"));
  EXPECT_EQ(error_of(spec_with("[\"A\",\"1\"]", "[\"A\"]")),
            "spec.json: field 'environment' must be a list of [name, value], it is array");
  EXPECT_EQ(
      error_of(spec_with("\"memory_mib\":64", "\"memory_mib\":-1")).find("spec.json limits: field 'memory_mib' is -1"),
      0u);
}

TEST(OrderCodec, TruncatedTextIsRefusedAtEveryLength) {
  const std::string text = encode_order(full_order()).value();
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(decode_order(text.substr(0, length), "spec.json")) << length;
  }
}

TEST(OrderCodec, TextThatIsNotUtf8IsRefused) {
  LaunchOrder order = full_order();
  order.command = {"\xff"};
  EXPECT_FALSE(encode_order(order));
}

TEST(ResultCodec, EveryFieldComesBackForEveryCause) {
  for (const EndCause cause : {EndCause::kExited, EndCause::kOutOfMemory, EndCause::kStopped, EndCause::kTimedOut,
                               EndCause::kLost, EndCause::kLaunchFailed}) {
    const AttemptResult result{.id = kId,
                               .end = {.cause = cause,
                                       .exit_code = 137,
                                       .reason = "killed by signal 9 (SIGKILL)",
                                       .status_reason = "Essential container in task exited",
                                       .ended = Instant{1'700'000'000'000'001},
                                       .usage = {.peak_memory_bytes = 5,
                                                 .memory_limit_bytes = 6,
                                                 .user_cpu = Duration{7},
                                                 .system_cpu = Duration{8},
                                                 .run = Duration{9}}},
                               .started = Instant{1'699'999'999'000'000}};
    const auto back = decode_result(encode_result(result), "result.json");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->id, result.id);
    EXPECT_EQ(back->started, result.started);
    EXPECT_EQ(back->end.cause, cause);
    EXPECT_EQ(back->end.exit_code, 137);
    EXPECT_EQ(back->end.reason, result.end.reason);
    EXPECT_EQ(back->end.status_reason, result.end.status_reason);
    EXPECT_EQ(back->end.ended, result.end.ended);
    EXPECT_EQ(back->end.usage.peak_memory_bytes, 5);
    EXPECT_EQ(back->end.usage.memory_limit_bytes, 6);
    EXPECT_EQ(back->end.usage.user_cpu, Duration{7});
    EXPECT_EQ(back->end.usage.system_cpu, Duration{8});
    EXPECT_EQ(back->end.usage.run, Duration{9});
  }
}

TEST(ResultCodec, AnAttemptThatNeverRanHasNeitherExitCodeNorStart) {
  const auto back = decode_result(encode_result({.id = kId, .end = {}, .started = std::nullopt}), "result.json");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->end.exit_code, std::nullopt);
  EXPECT_EQ(back->started, std::nullopt);
}

TEST(ResultCodec, TheWorstTextsFitInTheReserveOfOneBlock) {
  const std::string worst(1000, '\x01');  // six bytes each as JSON
  const std::string text =
      encode_result({.id = kId,
                     .end = {.exit_code = 255,
                             .reason = worst,
                             .status_reason = worst,
                             .ended = Instant{INT64_MAX},
                             .usage = {INT64_MAX, INT64_MAX, {INT64_MAX}, {INT64_MAX}, {INT64_MAX}}},
                     .started = Instant{INT64_MAX}});
  EXPECT_LE(text.size(), 4096u);
  EXPECT_EQ(decode_result(text, "result.json")->end.reason.size(), 255u);
}

TEST(ResultCodec, BytesThatAreNotUtf8AreReplacedNotRefused) {
  const auto back = decode_result(encode_result({.id = kId,
                                                 .end = {.reason = "a\xff"
                                                                   "b"}}),
                                  "result.json");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->end.reason,
            "a\xEF\xBF\xBD"
            "b");
}

TEST(ResultCodec, AnUnknownCauseIsAnErrorThatSaysSo) {
  std::string text = encode_result({.id = kId, .end = {}});
  text.replace(text.find("\"exited\""), 8, "\"melted\"");
  EXPECT_EQ(decode_result(text, "result.json").error().message,
            "result.json: field 'cause' is 'melted': it is none that this program knows");
}

TEST(LockRecordCodec, ComesBackAndGarbageIsNothing) {
  const LockRecord record{.pid = 17, .start_ticks = 12345, .boot_id = "b", .cgroups = {"/sys/fs/cgroup/teson/x"}};
  EXPECT_EQ(decode_lock_record(encode_lock_record(record)), record);
  EXPECT_EQ(decode_lock_record(""), std::nullopt);
  EXPECT_EQ(decode_lock_record("{\"pid\":17"), std::nullopt);
  EXPECT_EQ(decode_lock_record("{\"pid\":-1,\"start_ticks\":1,\"boot_id\":\"b\",\"cgroups\":[]}"), std::nullopt);
}

TEST(StopCodec, CarriesItsGrace) {
  EXPECT_EQ(decode_stop(encode_stop(Duration::millis(2500))), Duration::millis(2500));
  EXPECT_EQ(decode_stop("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d/2"), std::nullopt);
  EXPECT_EQ(decode_stop("{\"grace_us\":-1}"), std::nullopt);
}

TEST(Events, TheStartIsFoundAmongOthersAndHalfALineIsNot) {
  const std::string note = encode_event({.at = Instant{1}, .event = "note", .pid = std::nullopt, .detail = "x\ny"});
  const std::string started = encode_event({.at = Instant{2}, .event = "started", .pid = 5, .detail = ""});
  EXPECT_EQ(started_in(note + "garbage\n" + started), Instant{2});
  EXPECT_EQ(started_in(note), std::nullopt);
  EXPECT_EQ(started_in(note + started.substr(0, started.size() - 1)), std::nullopt);
}

}  // namespace
}  // namespace teson
