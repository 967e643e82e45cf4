#include "wire/json.h"

#include <gtest/gtest.h>

namespace teson::wire {
namespace {

TEST(ParseJson, AcceptsWholeValuesOnly) {
  EXPECT_EQ(parse_json(" {\"a\": [1, 2.5, null, \"\\u00e9\"]} ").value()["a"][3], "é");
  EXPECT_EQ(parse_json("{\"a\":1,\"a\":2}").value()["a"], 2);
  for (const char* text : {"", "{", "{\"a\":1", "[1,]", "{a:1}", "nul", "1 2", "'a'", "\"a\nb\"", "NaN", "1e999",
                           "\"\xC3\x28\"", "\"\xED\xA0\x80\"", "// c\n1"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(ParseJson, NestingAndSizeAreBounded) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') + std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_EQ(parse_json(nested(65)).error().message, "The JSON text is nested 65 levels deep; at most 64 are accepted.");
  EXPECT_FALSE(parse_json(std::string(5'000'000, '[')));
  EXPECT_TRUE(parse_json("\"" + std::string(100, '[') + "\\\"" + std::string(100, '[') + "\""));
  JsonLimits limits;
  limits.max_bytes = 4;
  EXPECT_TRUE(parse_json("1234", limits));
  EXPECT_EQ(parse_json("12345", limits).error().message, "The JSON text has 5 bytes; at most 4 are accepted.");
}

TEST(ParseJsonObject, EmptyBodyIsAnEmptyObject) {
  EXPECT_EQ(parse_json_object("").value(), Json::object());
  EXPECT_EQ(parse_json_object(" \r\n").value(), Json::object());
  EXPECT_EQ(parse_json_object("[1]").error().message, "The request body must be a JSON object, not array ('[1]').");
}

struct Body {
  explicit Body(const char* text) : json(parse_json(text).value()), root(json, "") {}
  Json json;
  JsonValue root;
};

template <class T>
std::string message(const Result<T>& result) {
  return result ? "accepted" : result.error().message;
}

TEST(JsonFields, RequiredStringNamesFieldValueAndBound) {
  const Body body(R"({"jobName":"abcdef","empty":"","number":7,"null":null})");
  EXPECT_EQ(required_string(body.root, "jobName", 6).value(), "abcdef");
  EXPECT_EQ(message(required_string(body.root, "jobName", 5)),
            "Value 'abcdef' at 'jobName' failed to satisfy constraint: Member must have length less than or equal to 5 "
            "(it has 6)");
  EXPECT_EQ(message(required_string(body.root, "empty", 5)),
            "Value '' at 'empty' failed to satisfy constraint: Member must have length greater than or equal to 1 (it "
            "has 0)");
  EXPECT_EQ(message(required_string(body.root, "number", 5)),
            "Value '7' at 'number' failed to satisfy constraint: Member must be a string");
  for (const char* name : {"absent", "null"}) {
    EXPECT_EQ(message(required_string(body.root, name, 5)),
              std::string("Value null at '") + name + "' failed to satisfy constraint: Member must not be null");
    EXPECT_EQ(optional_string(body.root, name).value(), std::nullopt);
  }
}

TEST(JsonFields, LengthsCountCharactersNotBytes) {
  const Body body(R"({"a":"ééé"})");
  EXPECT_TRUE(required_string(body.root, "a", 3));
  EXPECT_FALSE(required_string(body.root, "a", 2));
}

TEST(JsonFields, LongAndOddValuesAreShownShortAndOnOneLine) {
  const Json json = {{"a", std::string(79, 'x') + "é" + std::string(500, 'y')}, {"b", "x\ny"}};
  const JsonValue root(json, "");
  EXPECT_EQ(message(required_string(root, "a", 5)).find("yy"), std::string::npos);
  EXPECT_NE(message(required_string(root, "b", 2)).find("'x\\ny'"), std::string::npos);
}

TEST(JsonFields, IntegersHaveBoundsAndNoFractions) {
  const Body body(R"({"a":3,"b":3.0,"c":3.5,"d":"3","e":18446744073709551615,"f":-9223372036854775808,"g":1e300})");
  EXPECT_EQ(required_int(body.root, "a", {3, 3}).value(), 3);
  EXPECT_EQ(required_int(body.root, "b").value(), 3);
  EXPECT_EQ(required_int(body.root, "f").value(), INT64_MIN);
  EXPECT_EQ(message(required_int(body.root, "a", {4, 9})),
            "Value '3' at 'a' failed to satisfy constraint: Member must have value greater than or equal to 4");
  EXPECT_EQ(message(required_int(body.root, "a", {0, 2})),
            "Value '3' at 'a' failed to satisfy constraint: Member must have value less than or equal to 2");
  for (const char* name : {"c", "d", "e", "g"}) EXPECT_FALSE(required_int(body.root, name)) << name;
  EXPECT_EQ(optional_int(body.root, "z").value(), std::nullopt);
}

TEST(JsonFields, BooleansNumbersAndEnums) {
  const Body body(R"({"t":true,"n":1.5,"s":"ON","x":"true"})");
  EXPECT_EQ(optional_bool(body.root, "t").value(), true);
  EXPECT_FALSE(optional_bool(body.root, "x"));
  EXPECT_EQ(optional_double(body.root, "n").value(), 1.5);
  EXPECT_FALSE(optional_double(body.root, "x"));
  EXPECT_EQ(required_enum(body.root, "s", {"ON", "OFF"}).value(), "ON");
  EXPECT_EQ(message(required_enum(body.root, "s", {"on", "OFF"})),
            "Value 'ON' at 's' failed to satisfy constraint: Member must satisfy enum value set: [on, OFF]");
}

TEST(JsonFields, PathsReachIntoListsAndObjects) {
  const Body body(R"({"o":{"list":[{"name":"a"},{"name":5}],"words":["x","",null]}})");
  const JsonValue object = required_object(body.root, "o").value();
  const auto list = optional_object_array(object, "list").value();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(required_string(list[0], "name").value(), "a");
  EXPECT_EQ(message(required_string(list[1], "name")),
            "Value '5' at 'o.list[1].name' failed to satisfy constraint: Member must be a string");
  EXPECT_EQ(message(optional_string_array(object, "words")),
            "Value 'null' at 'o.words[2]' failed to satisfy constraint: Member must not be null");
  EXPECT_FALSE(optional_object_array(object, "words"));
  EXPECT_FALSE(required_array(object, "list", 3));
  EXPECT_FALSE(required_array(object, "list", 1, 1));
  EXPECT_FALSE(required_array(object, "none"));
  EXPECT_TRUE(optional_array(object, "none").value().empty());
  EXPECT_FALSE(optional_array(body.root, "o"));
  EXPECT_FALSE(required_object(object, "list"));
}

TEST(JsonFields, StringMaps) {
  const Body body(R"({"tags":{"b":"2","a":"1"},"bad":{"a":1},"none":null})");
  const StringMap expected = {{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(optional_string_map(body.root, "tags").value(), expected);
  EXPECT_TRUE(optional_string_map(body.root, "none").value().empty());
  EXPECT_EQ(message(optional_string_map(body.root, "bad")),
            "Value '1' at 'bad.a' failed to satisfy constraint: Member must be a string");
  EXPECT_FALSE(optional_string_map(body.root, "tags", {.max_entries = 1}));
  EXPECT_FALSE(optional_string_map(body.root, "tags", {.key = {2}}));
}

TEST(JsonText, NeverThrowsOnBrokenUtf8) { EXPECT_EQ(json_text(Json("a\xFF")), "\"a\xEF\xBF\xBD\""); }

}  // namespace
}  // namespace teson::wire
