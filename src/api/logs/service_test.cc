// Operations as clients call them: JSON in, JSON or an AWS error out, over the real store and attempts' files.
#include "api/logs/service.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>

#include "adapters/logs_sqlite/logs_sqlite.h"
#include "api/logs/logs_api.h"
#include "api/logs/temp_dir_testing.h"
#include "attempt_dir/codec.h"
#include "attempt_dir/paths.h"

namespace teson::logs {
namespace {

using wire::Json;

const Instant kNow = Instant::from_millis(1'800'000'000'000);

class FixedClock : public Clock {
 public:
  Instant now() const override { return kNow; }
  Instant wall() const override { return kNow; }
};

class FakeHistory : public History {
 public:
  std::map<std::string, LogStreamRecord> streams;

  Result<std::vector<Job>> find(std::span<const JobId>) const override { return std::vector<Job>(); }
  Result<std::vector<Job>> list(const HistoryQuery&) const override { return std::vector<Job>(); }
  Result<std::optional<LogStreamRecord>> find_stream(const std::string& name) const override {
    const auto found = streams.find(name);
    if (found == streams.end()) return std::optional<LogStreamRecord>();
    return std::optional<LogStreamRecord>(found->second);
  }
  Result<std::vector<LogStreamRecord>> list_streams(const std::string& prefix, const std::string& after,
                                                    int limit) const override {
    std::vector<LogStreamRecord> page;
    for (const auto& [name, record] : streams) {
      if (name.starts_with(prefix) && name > after && page.size() < static_cast<size_t>(limit)) page.push_back(record);
    }
    return page;
  }
};

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() : store_(*SqliteLogStore::open(data_.path())) {}

  // An ended attempt whose output is `text`.
  void add_attempt(const std::string& stream, int number, const std::string& text, Instant ended) {
    const AttemptId id{{{7, 7}}, number};
    const AttemptPaths paths = attempt_paths(data_.path(), id);
    std::filesystem::create_directories(paths.directory);
    std::ofstream(paths.log(), std::ios::binary) << text;
    std::ofstream(paths.result()) << encode_result(
        {id,
         {.cause = EndCause::kExited, .exit_code = 0, .reason = "", .status_reason = "", .ended = ended, .usage = {}},
         {}});
    history_.streams[stream] = {stream, id, ended - Duration::seconds(1)};
  }
  Json call(const std::string& operation, const Json& body) {
    const auto answer = service_.call(operation, body.dump());
    if (!answer) {
      ADD_FAILURE() << operation << ": " << answer.error().code << ": " << answer.error().message;
      return Json::object();
    }
    return Json::parse(*answer);
  }
  std::string error(const std::string& operation, const Json& body) {
    const auto answer = service_.call(operation, body.dump());
    return answer ? "none" : answer.error().code;
  }
  Json put(const std::string& group, const std::string& stream, const std::vector<Json>& events) {
    return call("PutLogEvents", {{"logGroupName", group}, {"logStreamName", stream}, {"logEvents", events}});
  }

  TempDir data_;
  FakeHistory history_;
  FixedClock clock_;
  std::unique_ptr<SqliteLogStore> store_;
  LogsSettings settings_{"eu-south-2", "123456789012"};
  Service service_{data_.path(), history_, *store_, clock_, settings_};
};

Json names(const Json& list, const char* field) {
  Json result = Json::array();
  for (const Json& item : list) result.push_back(item.at(field));
  return result;
}

Json event(int64_t millis, const std::string& message) { return {{"timestamp", millis}, {"message", message}}; }

TEST_F(ServiceTest, UnknownOperationIsNamed) {
  const auto answer = service_.call("StartQuery", "{}");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, "UnknownOperationException");
  EXPECT_TRUE(answer.error().message.contains("'StartQuery'"));
}

TEST_F(ServiceTest, MalformedBodiesAreRefused) {
  for (const auto* body : {"{", "[]", "\"x\"", "{\"logGroupName\": \"x\"", "\xFF"}) {
    const auto answer = service_.call("CreateLogGroup", body);
    ASSERT_FALSE(answer.has_value()) << body;
    EXPECT_EQ(answer.error().code, "SerializationException") << body;
    EXPECT_EQ(answer.error().status, 400);
  }
}

TEST_F(ServiceTest, GroupNamesHaveLimits) {
  for (const std::string& name : {std::string("a"), std::string(512, 'x'), std::string("/a-b_c.d#1")})
    EXPECT_EQ(error("CreateLogGroup", {{"logGroupName", name}}), "none") << name;
  for (const Json& name : {Json(""), Json(std::string(513, 'x')), Json("a b"), Json("a:b"), Json("a\nb"), Json("ñ"),
                           Json(5), Json(nullptr)})
    EXPECT_EQ(error("CreateLogGroup", {{"logGroupName", name}}), "InvalidParameterException") << name;
  EXPECT_EQ(error("CreateLogGroup", {{"logGroupName", "a"}}), "ResourceAlreadyExistsException");
}

TEST_F(ServiceTest, StreamNamesHaveLimits) {
  call("CreateLogGroup", {{"logGroupName", "g"}});
  for (const std::string& name : {std::string("a b/ñ#[$]"), std::string(512, 'x'), std::string("\u00A0")})
    EXPECT_EQ(error("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", name}}), "none") << name;
  for (const std::string& name : {std::string(), std::string(513, 'x'), std::string("a:b"), std::string("a*")})
    EXPECT_EQ(error("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", name}}), "InvalidParameterException")
        << name;
}

TEST_F(ServiceTest, ControlCharactersInNamesAreRefusedAndNamed) {
  call("CreateLogGroup", {{"logGroupName", "g"}});
  const std::map<std::string, std::string> bad = {{std::string("a\0b", 3), "U+0000"},
                                                  {"a\n", "U+000A"},
                                                  {"\x1b[31m", "U+001B"},
                                                  {"\x7f", "U+007F"},
                                                  {"a\u0085", "U+0085"}};
  for (const auto& [name, shown] : bad) {
    const Json events = {event(kNow.millis(), "x")};
    const std::pair<const char*, Json> requests[] = {
        {"CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", name}}},
        {"DeleteLogStream", {{"logGroupName", "g"}, {"logStreamName", name}}},
        {"PutLogEvents", {{"logGroupName", "g"}, {"logStreamName", name}, {"logEvents", events}}},
        {"GetLogEvents", {{"logGroupName", "/aws/batch/job"}, {"logStreamName", name}}},
        {"DescribeLogStreams", {{"logGroupName", "g"}, {"logStreamNamePrefix", name}}},
        {"FilterLogEvents", {{"logGroupName", "g"}, {"logStreamNamePrefix", name}}},
        {"FilterLogEvents", {{"logGroupName", "g"}, {"logStreamNames", {"good", name}}}},
    };
    for (const auto& [operation, body] : requests) {
      const auto answer = service_.call(operation, body.dump());
      ASSERT_FALSE(answer.has_value()) << operation << " " << body.dump();
      EXPECT_EQ(answer.error().code, "InvalidParameterException") << operation;
      EXPECT_TRUE(answer.error().message.contains("control characters (it has " + shown + ")"))
          << answer.error().message;
    }
    for (const auto* operation : {"CreateLogGroup", "DescribeLogStreams", "FilterLogEvents", "DeleteLogGroup"})
      EXPECT_EQ(error(operation, {{"logGroupName", name}}), "InvalidParameterException") << operation;
    for (const auto* field : {"logGroupNamePrefix", "logGroupNamePattern"})
      EXPECT_EQ(error("DescribeLogGroups", {{field, name}}), "InvalidParameterException") << field;
  }
}

TEST_F(ServiceTest, ServersOwnGroupIsListedAmongTheOthersInOrder) {
  for (const auto* name : {"/a", "/aws/batch/jobs", "/z"}) call("CreateLogGroup", {{"logGroupName", name}});
  const Json all = call("DescribeLogGroups", Json::object());
  EXPECT_EQ(names(all["logGroups"], "logGroupName"), (Json{"/a", "/aws/batch/job", "/aws/batch/jobs", "/z"}));
  EXPECT_EQ(all["logGroups"][1]["arn"], "arn:aws:logs:eu-south-2:123456789012:log-group:/aws/batch/job:*");
  EXPECT_FALSE(all.contains("nextToken"));
  Json seen = Json::array();
  Json body = {{"limit", 1}};
  for (int pages = 0; pages < 9; ++pages) {
    const Json page = call("DescribeLogGroups", body);
    for (const Json& group : page["logGroups"]) seen.push_back(group["logGroupName"]);
    if (!page.contains("nextToken")) break;
    body["nextToken"] = page["nextToken"];
  }
  EXPECT_EQ(seen, (Json{"/a", "/aws/batch/job", "/aws/batch/jobs", "/z"}));
  const Json found = call("DescribeLogGroups", {{"logGroupNamePattern", "batch/job"}});
  EXPECT_EQ(names(found["logGroups"], "logGroupName"), (Json{"/aws/batch/job", "/aws/batch/jobs"}));
  EXPECT_EQ(error("DescribeLogGroups", {{"limit", 51}}), "InvalidParameterException");
  EXPECT_EQ(error("DescribeLogGroups", {{"nextToken", "x"}}), "InvalidParameterException");
}

TEST_F(ServiceTest, ServersOwnGroupCountsItsLogs) {
  add_attempt("d/default/1", 1, "12345\n", kNow);
  const Json found = call("DescribeLogGroups", {{"logGroupNamePrefix", "/aws/batch/job"}});
  EXPECT_EQ(found["logGroups"][0]["storedBytes"], 6);
}

TEST_F(ServiceTest, ServersOwnGroupIsNotForClients) {
  add_attempt("d/default/1", 1, "x\n", kNow);
  const Json group = {{"logGroupName", "/aws/batch/job"}};
  EXPECT_EQ(error("CreateLogGroup", group), "ResourceAlreadyExistsException");
  EXPECT_EQ(error("DeleteLogGroup", group), "InvalidOperationException");
  EXPECT_EQ(error("DeleteRetentionPolicy", group), "InvalidOperationException");
  Json body = group;
  body["logStreamName"] = "d/default/1";
  EXPECT_EQ(error("CreateLogStream", body), "InvalidOperationException");
  EXPECT_EQ(error("DeleteLogStream", body), "InvalidOperationException");
  body["logEvents"] = Json::array({event(kNow.millis(), "forged")});
  EXPECT_EQ(error("PutLogEvents", body), "InvalidOperationException");
  EXPECT_EQ(call("ListTagsLogGroup", group)["tags"], Json::object());
}

TEST_F(ServiceTest, AttemptsEventsAreReadAndFiltered) {
  add_attempt("d/default/1", 1, "one\nERROR two", kNow);
  const Json stream = {{"logGroupName", "/aws/batch/job"}, {"logStreamName", "d/default/1"}};
  const Json page = call("GetLogEvents", stream);
  const int64_t t = kNow.millis();
  EXPECT_EQ(page["events"], (Json{{{"timestamp", t}, {"message", "one"}, {"ingestionTime", t}},
                                  {{"timestamp", t}, {"message", "ERROR two"}, {"ingestionTime", t}}}));
  EXPECT_TRUE(page["nextForwardToken"].get<std::string>().starts_with("f/13/"));
  EXPECT_TRUE(page["nextBackwardToken"].get<std::string>().starts_with("b/0/"));
  const Json found = call("FilterLogEvents", {{"logGroupName", "/aws/batch/job"}, {"filterPattern", "ERROR"}});
  ASSERT_EQ(found["events"].size(), 1u);
  EXPECT_EQ(found["events"][0]["message"], "ERROR two");
  EXPECT_EQ(found["events"][0]["logStreamName"], "d/default/1");
  EXPECT_FALSE(found.contains("nextToken"));
  EXPECT_EQ(found["searchedLogStreams"], Json::array());
  EXPECT_EQ(
      call("GetLogEvents", {{"logGroupIdentifier", "arn:aws:logs:eu-south-2:123456789012:log-group:/aws/batch/job:*"},
                            {"logStreamName", "d/default/1"}}),
      page);
  EXPECT_EQ(
      error("GetLogEvents", {{"logGroupIdentifier", "arn:aws:logs:us-east-1:123456789012:log-group:/aws/batch/job"},
                             {"logStreamName", "d/default/1"}}),
      "InvalidParameterException");
  EXPECT_EQ(error("GetLogEvents", {{"logGroupName", "/aws/batch/job"}, {"logStreamName", "absent"}}),
            "ResourceNotFoundException");
}

// A job can put anything in place of its log; that is its own trouble, and no other's.
TEST_F(ServiceTest, WhatIsNoFileInPlaceOfALogIsRefusedForGoodAndSpoilsNoList) {
  add_attempt("good", 1, "fine\n", kNow - Duration::seconds(20));
  const std::string secret = data_.path() + "/secret";
  std::ofstream(secret) << "secret\n";
  int number = 1;
  const auto replaced = [&](const std::string& stream) {
    add_attempt(stream, ++number, "x", kNow);
    const std::string path = attempt_paths(data_.path(), {{{7, 7}}, number}).log();
    std::filesystem::remove(path);
    return path;
  };
  ASSERT_EQ(::mkfifo(replaced("a FIFO").c_str(), 0600), 0);
  std::filesystem::create_directory(replaced("a directory"));
  std::filesystem::create_symlink(secret, replaced("a symbolic link"));
  ASSERT_EQ(::mknod(replaced("a socket").c_str(), S_IFSOCK | 0600, 0), 0);

  for (const std::string kind : {"a FIFO", "a directory", "a symbolic link", "a socket"}) {
    const Json one = {{"logGroupName", "/aws/batch/job"}, {"logStreamName", kind}};
    const auto answer = service_.call("GetLogEvents", one.dump());
    ASSERT_FALSE(answer.has_value()) << kind;
    EXPECT_EQ(answer.error().code, "InvalidOperationException") << kind;
    EXPECT_EQ(answer.error().status, 400) << kind;
    EXPECT_TRUE(answer.error().message.contains("stdout.log is " + kind + ", put there")) << answer.error().message;
    EXPECT_EQ(error("FilterLogEvents", {{"logGroupName", "/aws/batch/job"}, {"logStreamNames", {kind}}}),
              "InvalidOperationException");
  }
  const Json group = {{"logGroupName", "/aws/batch/job"}};
  EXPECT_EQ(names(call("FilterLogEvents", group)["events"], "message"), (Json{"fine"}));
  EXPECT_EQ(names(call("DescribeLogStreams", group)["logStreams"], "logStreamName"),
            (Json{"a FIFO", "a directory", "a socket", "a symbolic link", "good"}));
  const Json by_time =
      call("DescribeLogStreams",
           {{"logGroupName", "/aws/batch/job"}, {"orderBy", "LastEventTime"}, {"limit", 1}, {"descending", true}});
  EXPECT_EQ(names(by_time["logStreams"], "logStreamName"), (Json{"good"}));
  EXPECT_EQ(call("DescribeLogGroups", Json::object())["logGroups"][0]["storedBytes"], 5);
}

TEST_F(ServiceTest, StreamsAreListedByNameAndByTimeInPages) {
  add_attempt("d/default/1", 1, "x\n", kNow + Duration::seconds(2));
  add_attempt("d/default/2", 2, "x\n", kNow + Duration::seconds(1));
  add_attempt("d/default/3", 3, "", kNow);
  add_attempt("e/default/1", 4, "x\n", kNow + Duration::seconds(1));
  const auto list = [&](Json body) {
    body["logGroupName"] = "/aws/batch/job";
    body["limit"] = 2;
    std::string all;
    for (int pages = 0; pages < 9; ++pages) {
      const Json page = call("DescribeLogStreams", body);
      for (const Json& stream : page["logStreams"]) all += stream["logStreamName"].get<std::string>() + " ";
      if (!page.contains("nextToken")) break;
      body["nextToken"] = page["nextToken"];
      all += "| ";
    }
    return all;
  };
  EXPECT_EQ(list(Json::object()), "d/default/1 d/default/2 | d/default/3 e/default/1 ");
  EXPECT_EQ(list({{"logStreamNamePrefix", "d/"}}), "d/default/1 d/default/2 | d/default/3 ");
  EXPECT_EQ(list({{"descending", true}}), "e/default/1 d/default/3 | d/default/2 d/default/1 ");
  EXPECT_EQ(list({{"orderBy", "LastEventTime"}}), "d/default/3 d/default/2 | e/default/1 d/default/1 ");
  EXPECT_EQ(list({{"orderBy", "LastEventTime"}, {"descending", true}}),
            "d/default/1 e/default/1 | d/default/2 d/default/3 ");
  const Json third =
      call("DescribeLogStreams", {{"logGroupName", "/aws/batch/job"}, {"logStreamNamePrefix", "d/default/3"}});
  EXPECT_FALSE(third["logStreams"][0].contains("lastEventTimestamp"));
  EXPECT_EQ(error("DescribeLogStreams",
                  {{"logGroupName", "/aws/batch/job"}, {"orderBy", "LastEventTime"}, {"logStreamNamePrefix", "d"}}),
            "InvalidParameterException");
}

TEST_F(ServiceTest, PutEventsComeBackInOrderOfTime) {
  call("CreateLogGroup", {{"logGroupName", "g"}});
  call("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", "s"}});
  const int64_t t = kNow.millis();
  put("g", "s", {event(t, "a"), event(t, "b"), event(t + 10, "d")});
  put("g", "s", {event(t + 5, "c")});
  Json body = {{"logGroupName", "g"}, {"logStreamName", "s"}, {"startFromHead", true}, {"limit", 3}};
  Json page = call("GetLogEvents", body);
  EXPECT_EQ(names(page["events"], "message"), (Json{"a", "b", "c"}));
  body["nextToken"] = page["nextForwardToken"];
  page = call("GetLogEvents", body);
  EXPECT_EQ(names(page["events"], "message"), (Json{"d"}));
  body["nextToken"] = page["nextForwardToken"];
  page = call("GetLogEvents", body);
  EXPECT_EQ(page["events"], Json::array());
  EXPECT_EQ(page["nextForwardToken"], body["nextToken"]);
  put("g", "s", {event(t + 20, "e")});
  EXPECT_EQ(names(call("GetLogEvents", body)["events"], "message"), (Json{"e"}));
  body.erase("nextToken");
  body["startFromHead"] = false;
  page = call("GetLogEvents", body);
  EXPECT_EQ(names(page["events"], "message"), (Json{"c", "d", "e"}));
  body["nextToken"] = page["nextBackwardToken"];
  EXPECT_EQ(names(call("GetLogEvents", body)["events"], "message"), (Json{"a", "b"}));
}

TEST_F(ServiceTest, EmptyStoredStreamIsFollowedFromItsBegin) {
  call("CreateLogGroup", {{"logGroupName", "g"}});
  call("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", "s"}});
  Json body = {{"logGroupName", "g"}, {"logStreamName", "s"}, {"startFromHead", true}};
  body["nextToken"] = call("GetLogEvents", body)["nextForwardToken"];
  EXPECT_EQ(call("GetLogEvents", body)["nextForwardToken"], body["nextToken"]);
  put("g", "s", {event(kNow.millis(), "a")});
  EXPECT_EQ(names(call("GetLogEvents", body)["events"], "message"), (Json{"a"}));
}

TEST_F(ServiceTest, EventsOutsideTheTimesAreRejectedByIndex) {
  call("CreateLogGroup", {{"logGroupName", "g"}});
  call("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", "s"}});
  const int64_t t = kNow.millis();
  constexpr int64_t kHour = 3'600'000;
  EXPECT_FALSE(put("g", "s", {event(t - 14 * 24 * kHour, "a")}).contains("rejectedLogEventsInfo"));
  EXPECT_EQ(put("g", "s", {event(t - 14 * 24 * kHour - 1, "x")})["rejectedLogEventsInfo"],
            (Json{{"tooOldLogEventEndIndex", 1}}));
  EXPECT_EQ(put("g", "s", {event(t + 2 * kHour, "b"), event(t + 2 * kHour + 1, "x")})["rejectedLogEventsInfo"],
            (Json{{"tooNewLogEventStartIndex", 1}}));
  Json page = call("GetLogEvents", {{"logGroupName", "g"}, {"logStreamName", "s"}});
  EXPECT_EQ(names(page["events"], "message"), (Json{"a", "b"}));
  call("PutRetentionPolicy", {{"logGroupName", "g"}, {"retentionInDays", 1}});
  EXPECT_EQ(put("g", "s", {event(t - 24 * kHour - 1, "x"), event(t - 24 * kHour + 1, "c")})["rejectedLogEventsInfo"],
            (Json{{"expiredLogEventEndIndex", 1}}));
  page = call("GetLogEvents", {{"logGroupName", "g"}, {"logStreamName", "s"}});
  EXPECT_EQ(names(page["events"], "message"), (Json{"c", "b"}));
}

TEST_F(ServiceTest, FilterGoesOverStoredStreamsInPages) {
  call("CreateLogGroup", {{"logGroupName", "g"}});
  const int64_t t = kNow.millis();
  for (const auto* name : {"a", "b", "c"}) call("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", name}});
  put("g", "a", {event(t, "1"), event(t + 2, "3")});
  put("g", "b", {event(t + 1, "2"), event(t + 3, "4")});
  Json body = {{"logGroupName", "g"}, {"limit", 1}};
  Json seen = Json::array();
  for (int pages = 0; pages < 9; ++pages) {
    const Json page = call("FilterLogEvents", body);
    for (const Json& found : page["events"]) seen.push_back(found["message"]);
    if (!page.contains("nextToken")) break;
    body["nextToken"] = page["nextToken"];
  }
  EXPECT_EQ(seen, (Json{"1", "2", "3", "4"}));
  EXPECT_EQ(error("FilterLogEvents", {{"logGroupName", "g"}, {"logStreamNames", {"a"}}, {"logStreamNamePrefix", "a"}}),
            "InvalidParameterException");
  EXPECT_EQ(error("FilterLogEvents", {{"logGroupName", "g"}, {"logStreamNames", {"absent"}}}),
            "ResourceNotFoundException");
  EXPECT_EQ(error("FilterLogEvents", {{"logGroupName", "g"}, {"filterPattern", "{ $.a = 1 }"}}),
            "InvalidParameterException");
  EXPECT_EQ(error("FilterLogEvents", {{"logGroupName", "g"}, {"nextToken", "x"}}), "InvalidParameterException");
}

TEST_F(ServiceTest, TagsAreAddedReplacedRemovedAndCounted) {
  call("CreateLogGroup", {{"logGroupName", "g"}, {"tags", {{"a", "1"}}}});
  const std::string arn = "arn:aws:logs:eu-south-2:123456789012:log-group:g";
  call("TagResource", {{"resourceArn", arn}, {"tags", {{"a", "2"}, {"b", ""}}}});
  call("UntagLogGroup", {{"logGroupName", "g"}, {"tags", {"b", "absent"}}});
  EXPECT_EQ(call("ListTagsForResource", {{"resourceArn", arn + ":*"}})["tags"], (Json{{"a", "2"}}));
  Json many = Json::object();
  for (int i = 0; i < 49; ++i) many["k" + std::to_string(i)] = "v";
  call("TagLogGroup", {{"logGroupName", "g"}, {"tags", many}});
  EXPECT_EQ(error("TagResource", {{"resourceArn", arn}, {"tags", {{"one more", ""}}}}), "TooManyTagsException");
  EXPECT_EQ(error("TagResource", {{"resourceArn", arn}, {"tags", {{"aws:x", ""}}}}), "InvalidParameterException");
  EXPECT_EQ(error("TagResource", {{"resourceArn", arn}, {"tags", {{"a<b", ""}}}}), "InvalidParameterException");
  EXPECT_EQ(error("TagResource", {{"resourceArn", "arn:aws:s3:::bucket"}, {"tags", {{"a", ""}}}}),
            "InvalidParameterException");
  EXPECT_EQ(error("ListTagsLogGroup", {{"logGroupName", "absent"}}), "ResourceNotFoundException");
}

TEST_F(ServiceTest, RetentionTakesOnlyAwsDays) {
  call("CreateLogGroup", {{"logGroupName", "g"}});
  call("PutRetentionPolicy", {{"logGroupName", "g"}, {"retentionInDays", 3653}});
  EXPECT_EQ(call("DescribeLogGroups", {{"logGroupNamePrefix", "g"}})["logGroups"][0]["retentionInDays"], 3653);
  for (const int days : {0, 2, 3654, -1})
    EXPECT_EQ(error("PutRetentionPolicy", {{"logGroupName", "g"}, {"retentionInDays", days}}),
              "InvalidParameterException");
  call("DeleteRetentionPolicy", {{"logGroupName", "g"}});
  EXPECT_FALSE(call("DescribeLogGroups", {{"logGroupNamePrefix", "g"}})["logGroups"][0].contains("retentionInDays"));
}

TEST_F(ServiceTest, RequestsAreAnsweredByTheModulesOwnThreads) {
  std::atomic<int> answered = 0;
  {
    LogsApi api(data_.path(), history_, *store_, clock_, settings_);
    for (int i = 0; i < 100; ++i) {
      http::Request request;
      request.protocol = wire::Protocol::kJson11;
      request.operation = i % 2 == 0 ? "DescribeLogGroups" : "NoSuchThing";
      api.handle(std::move(request), [&, i](const http::Response& response) {
        if (response.status == (i % 2 == 0 ? 200 : 400)) ++answered;
      });
    }
  }
  EXPECT_EQ(answered, 100);
}

}  // namespace
}  // namespace teson::logs
