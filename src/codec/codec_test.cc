#include "codec/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "codec/fields.h"
#include "codec/json_text.h"
#include "codec/reflection_testing.h"
#include "contracts/journal_samples.h"

namespace teson::codec {
namespace {

using reflection::described;

// --- random values: every member of every aggregate, so that no field can be forgotten ---------------------------

// All are declared first: members of std types are not found by their namespace.
template <class T>
void fill(T& x);
void fill(std::string& x);
template <class T>
void fill(std::optional<T>& x);
template <class T>
void fill(std::vector<T>& x);
template <class T>
void fill(std::set<T>& x);
void fill(std::pair<std::string, std::string>& x);
void fill(Tags& x);
template <class... Ts>
void fill(std::variant<Ts...>& x);

template <class T>
void fill_integer(T& x) {
  x = *rc::gen::oneOf(rc::gen::arbitrary<T>(), rc::gen::elementOf(std::vector<T>{0, 1, std::numeric_limits<T>::min(),
                                                                                 std::numeric_limits<T>::max()}));
}
void fill(std::string& x) {
  x.clear();
  for (const int piece : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 140))) {
    constexpr const char* kSpecial[] = {"\xC3\xB1", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD", "\"", "\\",
                                        "</",       "\x7F"};
    if (piece < 128) {
      x += static_cast<char>(piece);  // NUL and control characters too
    } else {
      x += kSpecial[piece % 8];
    }
  }
}
template <class T>
void fill(std::optional<T>& x) {
  x.reset();
  if (*rc::gen::arbitrary<bool>()) fill(x.emplace());
}
template <class T>
void fill(std::vector<T>& x) {
  x.clear();
  const int size = *rc::gen::inRange(0, 4);
  for (int i = 0; i < size; ++i) fill(x.emplace_back());
}
template <class T>
void fill(std::set<T>& x) {
  x.clear();
  const int size = *rc::gen::inRange(0, 4);
  for (int i = 0; i < size; ++i) {
    T item;
    fill(item);
    x.insert(item);
  }
}
void fill(std::pair<std::string, std::string>& x) {
  fill(x.first);
  fill(x.second);
}
void fill(Tags& x) {
  x.clear();
  const int size = *rc::gen::inRange(0, 4);
  for (int i = 0; i < size; ++i) {
    std::pair<std::string, std::string> tag;
    fill(tag);
    x.insert(tag);
  }
}
template <class... Ts>
void fill(std::variant<Ts...>& x) {
  const auto chosen = *rc::gen::inRange<size_t>(0, sizeof...(Ts));
  size_t index = 0;
  const auto maybe = [&]<class T>(std::type_identity<T>) {
    if (index++ == chosen) fill(x.template emplace<T>());
  };
  (maybe(std::type_identity<Ts>()), ...);
}
template <class T>
void fill(T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    x = *rc::gen::arbitrary<bool>();
  } else if constexpr (std::is_enum_v<T>) {
    x = static_cast<T>(*rc::gen::inRange<int>(0, std::size(kWords<T>)));
  } else if constexpr (std::is_integral_v<T>) {
    fill_integer(x);
  } else if constexpr (std::is_same_v<T, JobId>) {
    fill(x.uuid);
    x.index = *rc::gen::inRange(JobId::kNoIndex, JobId::kLargestIndex + 1);
  } else {
    reflection::for_each_member(x, [](auto& member) { fill(member); });
  }
}

// A child's spec is its array's and not written with it.
void drop_spec_of_child(Job& job) {
  if (job.id.is_child()) job.spec = {};
}

template <class T>
T random_value() {
  T value;
  fill(value);
  return value;
}

RC_GTEST_PROP(CodecProperty, FactsComeBackAsTheyWere, ()) {
  const Fact fact = random_value<Fact>();
  const std::string text = encode(fact);
  RC_ASSERT(text.find('\n') == std::string::npos);
  const auto back = decode_fact(text);
  RC_ASSERT(back.has_value());
  RC_ASSERT(described(*back) == described(fact));
  RC_ASSERT(encode(*back) == text);
}

RC_GTEST_PROP(CodecProperty, JobsComeBackAsTheyWere, ()) {
  Job job = random_value<Job>();
  drop_spec_of_child(job);
  const auto back = decode_job(encode(job));
  RC_ASSERT(back.has_value());
  RC_ASSERT(described(*back) == described(job));
}

RC_GTEST_PROP(CodecProperty, SnapshotsComeBackAsTheyWere, ()) {
  Snapshot snapshot = random_value<Snapshot>();
  for (Job& job : snapshot.jobs) drop_spec_of_child(job);
  const auto back = decode_snapshot(encode(snapshot));
  RC_ASSERT(back.has_value());
  RC_ASSERT(described(*back) == described(snapshot));
}

// Damaged or cut text is an error or another value, never a crash.
RC_GTEST_PROP(CodecProperty, DamagedTextIsSurvived, ()) {
  std::string text = encode(random_value<Fact>());
  const auto at = *rc::gen::inRange<size_t>(0, text.size());
  if (*rc::gen::arbitrary<bool>()) {
    text[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  } else {
    text.resize(at);
  }
  const auto back = decode_fact(text);
  const bool said_why = back.has_value() || !back.error().message.empty();
  RC_ASSERT(said_why);
}

// --- the promise to old journals ----------------------------------------------------------------------------------

std::vector<std::string> golden_lines(const std::string& name) {
  std::ifstream file(std::string(TESON_SOURCE_DIR) + "/tests/golden/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(CodecGolden, EachKindOfFactIsWrittenAsEver) {
  const auto lines = golden_lines("facts.jsonl");
  const auto facts = contract::one_of_each();
  ASSERT_EQ(facts.size(), std::variant_size_v<FactBody>) << "one_of_each() lacks a kind";
  for (size_t i = 0; i < facts.size(); ++i) {
    ASSERT_EQ(facts[i].body.index(), i) << "one_of_each() is not in the order of FactBody";
    ASSERT_LT(i, lines.size()) << "add this line to tests/golden/facts.jsonl:\n" << encode(facts[i]);
    EXPECT_EQ(encode(facts[i]), lines[i]);
  }
}

TEST(CodecGolden, LinesOfEveryReleaseAreStillRead) {
  // Lines after the first of each kind are of older formats: kept for ever, read here.
  for (const std::string& line : golden_lines("facts.jsonl")) {
    const auto fact = decode_fact(line);
    EXPECT_TRUE(fact.has_value()) << fact.error().message << "\n" << line;
  }
  const auto jobs = golden_lines("jobs.jsonl");
  ASSERT_GE(jobs.size(), 1u);
  EXPECT_EQ(encode(contract::sample_finished(7)), jobs[0]);
  for (const std::string& line : jobs) EXPECT_TRUE(decode_job(line).has_value()) << line;
}

constexpr const char* kId = "11111111-2222-4333-8000-000000000001";

TEST(Codec, UnknownMembersAreIgnoredAndAbsentOnesHaveTheirDefaults) {
  const auto fact = decode_fact(std::string(R"({"kind":"job_submitted","at_us":5,"later":{"x":[1]},"body":{"id":")") +
                                kId + R"(","spec":{"name":"old","colour":"red"}}})");
  ASSERT_TRUE(fact.has_value()) << fact.error().message;
  const auto& body = std::get<fact::JobSubmitted>(fact->body);
  EXPECT_EQ(body.id, contract::sample_id(1));
  EXPECT_EQ(body.spec.name, "old");
  EXPECT_EQ(body.spec.grace, Duration::seconds(30));
  EXPECT_EQ(body.spec.retry.attempts, 1);
  EXPECT_TRUE(body.spec.interruptions_use_attempts);
  EXPECT_FALSE(body.spec.attempt_timeout.has_value());
}

TEST(Codec, AbsentAndEmptyMembersAreNotWritten) {
  const std::string text = encode(Fact{Instant{1}, fact::JobFailed{contract::sample_id(1), ""}});
  EXPECT_EQ(text, std::string(R"({"kind":"job_failed","at_us":1,"body":{"id":")") + kId + R"("}})");
}

void expect_refused(const std::string& text, const std::string& part) {
  const auto fact = decode_fact(text);
  ASSERT_FALSE(fact.has_value()) << text;
  EXPECT_EQ(fact.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(fact.error().message.find(part), std::string::npos) << fact.error().message;
}

TEST(Codec, ErrorsNameTheMemberAndTheValue) {
  const std::string id = kId;
  expect_refused("", "not JSON");
  expect_refused("[1]", "not a JSON object");
  expect_refused(R"({"kind":"job_ready","at_us":1})", "has no member 'body'");
  expect_refused(R"({"at_us":1,"body":{}})", "has no member 'kind'");
  expect_refused(R"({"kind":"job_ready","at_us":1.5,"body":{}})", "at_us: expected an integer, found number");
  expect_refused(R"({"kind":"job_ready","at_us":1,"body":{}})", "fact job_ready: has no member 'id'");
  expect_refused(R"({"kind":"job_ready","at_us":1,"body":{"id":"7"}})", "id: '7' is not a job id");
  expect_refused(R"({"kind":"job_flown","at_us":1,"body":{}})", "'job_flown' is not a known kind");
  expect_refused(R"({"kind":"job_submitted","at_us":1,"body":{"id":")" + id + R"(","spec":{"priority":3000000000}}})",
                 "spec.priority: the number 3000000000 is out of range");
  expect_refused(R"({"kind":"stop_requested","at_us":1,"body":{"id":")" + id + R"(","request":{"kind":"pause"}}})",
                 "request.kind: 'pause' is not one of: cancel, terminate");
}

TEST(Codec, ASnapshotThatLacksALineIsRefused) {
  Snapshot snapshot;
  snapshot.jobs = {contract::sample_finished(1), contract::sample_finished(2)};
  std::string text = encode(snapshot);
  text.resize(text.rfind('\n', text.size() - 2) + 1);
  const auto back = decode_snapshot(text);
  ASSERT_FALSE(back.has_value());
  EXPECT_NE(back.error().message.find("2 values were written, 1 are there"), std::string::npos) << back.error().message;
}

TEST(Codec, AnEmptySnapshotIsOneLine) {
  EXPECT_EQ(encode(Snapshot{}),
            "{\"format\":1,\"last_fact_at_us\":0,\"next_order\":1,\"instances_started\":0,\"values\":0}\n");
}

TEST(Codec, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  const auto written = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
  };
  EXPECT_EQ(written("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(written("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                  // overlong
  EXPECT_EQ(written("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // surrogate
  EXPECT_EQ(written("\xE2\x82"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                  // cut short
  EXPECT_EQ(written("\xF0\x9F\x98\x80"), "\"\xF0\x9F\x98\x80\"");
  EXPECT_EQ(written(std::string_view("\0\n\x1F\"\\", 5)), R"("\u0000\n\u001f\"\\")");
}

}  // namespace
}  // namespace teson::codec
