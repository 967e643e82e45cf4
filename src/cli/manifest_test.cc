#include "cli/manifest.h"

#include <gtest/gtest.h>

namespace teson::cli {
namespace {

std::string mistake(const std::string& text) {
  const auto read = read_manifest({{"f.yaml", text}});
  return read ? "no mistake" : read.error().message;
}

Json request(const std::string& text) {
  const auto read = read_manifest({{"f.yaml", text}});
  EXPECT_TRUE(read) << read.error().message;
  return read && read->size() == 1 ? read->front().request : Json();
}

const std::string kQueue =
    "kind: JobQueue\njobQueueName: q\npriority: 1\n"
    "computeEnvironmentOrder: [{order: 1, computeEnvironment: e}]\n";

TEST(Manifest, DocumentsComeInTheOrderOfTheirNeeds) {
  const auto read = read_manifest(
      {{"a.yaml", "# nothing but a comment\n---\nkind: Job\njobName: j\njobQueue: q\njobDefinition: d\n---\n" + kQueue},
       {"b.yaml",
        "kind: SchedulingPolicy\nname: p\n---\n---\nkind: JobDefinition\njobDefinitionName: d\ntype: container\n---\n"
        "kind: ComputeEnvironment\ncomputeEnvironmentName: e\ntype: UNMANAGED\n"}});
  ASSERT_TRUE(read) << read.error().message;
  std::vector<std::string> labels;
  for (const ManifestDocument& document : *read) labels.push_back(document.label());
  EXPECT_EQ(labels, (std::vector<std::string>{"SchedulingPolicy/p", "ComputeEnvironment/e", "JobQueue/q",
                                              "JobDefinition/d", "Job/j"}));
  EXPECT_EQ((*read)[4].file, "a.yaml");
  EXPECT_EQ((*read)[4].place.line, 3);
}

// What YAML 1.1 would make a truth or an octal number stays the text that AWS asks for.
TEST(Manifest, AScalarIsWhatItsFieldIs) {
  EXPECT_EQ(request("kind: JobDefinition\njobDefinitionName: 010\ntype: container\nparameters: {on: off, n: 1.0}\n"
                    "propagateTags: true\ncontainerProperties:\n  image: host\n  command: [echo, yes, 0x10, '', ~x]\n"
                    "  resourceRequirements: [{type: VCPU, value: 1}, {type: MEMORY, value: 0512}]\n"),
            Json::parse(R"({"jobDefinitionName": "010", "type": "container", "parameters": {"on": "off", "n": "1.0"},
                "propagateTags": true, "containerProperties": {"image": "host",
                "command": ["echo", "yes", "0x10", "", "~x"],
                "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "0512"}]}})"));
  const std::string share =
      "kind: SchedulingPolicy\nname: p\nfairsharePolicy:\n  shareDistribution:\n  - {shareIdentifier: a, "
      "weightFactor: ";
  EXPECT_EQ(request(share + "0.5}\n")["fairsharePolicy"]["shareDistribution"][0]["weightFactor"], 0.5);
  EXPECT_NE(mistake(share + ".inf}\n").find("'.inf' is given: a number is expected"), std::string::npos);
}

// What AWS's pages show is JSON, indented with tabs at times: YAML's flow style allows that.
TEST(Manifest, JsonIsYaml) {
  EXPECT_EQ(request("{\"kind\": \"SchedulingPolicy\",\n\t\"name\": \"p\",\n\t\"tags\": {\"a\": \"b\"}}\n"),
            Json::parse(R"({"name": "p", "tags": {"a": "b"}})"));
}

TEST(Manifest, WhatIsWrongIsSaidWithItsPlaceAndWhatWouldBeRight) {
  const std::pair<std::string, std::string> cases[] = {
      {"name: p\n",
       "f.yaml:1:1: 'kind' is missing: it must be one of SchedulingPolicy, ComputeEnvironment, JobQueue, "
       "JobDefinition, Job"},
      {"kind: Queue\n", "f.yaml:1:7: kind: 'Queue' is not known: it must be one of SchedulingPolicy, "},
      {"- a\n", "f.yaml:1:1: a document must be a map of fields"},
      {"kind: SchedulingPolicy\nname: p\nname: q\n",
       "f.yaml:3:1: the key 'name' is given twice, first in line 2: keep one of them"},
      {"kind: SchedulingPolicy\n", "f.yaml:1:1: SchedulingPolicy: 'name' is missing: it must be given"},
      {"kind: SchedulingPolicy\nName: p\n", "f.yaml:2:1: SchedulingPolicy: there is no field 'Name'; write 'name'"},
      {"kind: SchedulingPolicy\nname: p\nx: 1\n",
       "f.yaml:3:1: SchedulingPolicy: there is no field 'x'; known are name, tags, quotaSharePolicy, fairsharePolicy"},
      {"kind: SchedulingPolicy\nname:\n", "f.yaml:2:1: name: nothing (null) is given: a string is expected"},
      {"kind: SchedulingPolicy\nname: [p]\n", "f.yaml:2:7: name: a list is given: a string is expected"},
      {"kind: SchedulingPolicy\nname: p\nfairsharePolicy:\n  shareDecaySeconds: '60'\n",
       "f.yaml:4:22: fairsharePolicy.shareDecaySeconds: '60' in quotes is given: a whole number in digits is expected"},
      {"kind: SchedulingPolicy\nname: p\nfairsharePolicy: {computeReservation: 010}\n",
       "f.yaml:3:39: fairsharePolicy.computeReservation: '010' is given: a whole number in digits"},
      {"kind: SchedulingPolicy\nname: p\ntags:\n\ta: b\n", "f.yaml:4:1: a tab is used for indentation"},
      {"kind: SchedulingPolicy\nname:\n\tp\n", "f.yaml:3:1: a tab is used for indentation"},
      {"kind: SchedulingPolicy\nname: p\ntags: {a: b\n", "f.yaml:4:1: not YAML: "},
      {"kind: SchedulingPolicy\nname: p\ntags: &t {a: *t}\n", "f.yaml:3:14: this alias refers to what it stands in"},
      {"kind: SchedulingPolicy\nname: p\ntags: {<<: {a: b}}\n", "f.yaml:3:8: merge keys (<<) are not supported"},
      {"kind: SchedulingPolicy\nname: !!int 3\n", "f.yaml:2:7: the tag 'tag:yaml.org,2002:int' is not supported"},
      {"kind: ComputeEnvironment\ncomputeEnvironmentName: e\ntype: MANAGED\n",
       "f.yaml:1:1: ComputeEnvironment: 'computeResources' is missing"},
      {"kind: ComputeEnvironment\ncomputeEnvironmentName: e\ntype: managed\n",
       "f.yaml:3:7: type: 'managed' is given: one of MANAGED, UNMANAGED is expected"},
      {"kind: JobDefinition\njobDefinitionName: d\ntype: container\npropagateTags: yes\n",
       "f.yaml:4:16: propagateTags: 'yes' is given: true or false is expected"},
      {kQueue + "---\n" + kQueue, "f.yaml:6:1: JobQueue/q is given twice, first at f.yaml:1: keep one of them"},
      {"kind: \xff\n", "f.yaml:1:1: the file is not UTF-8 text"},
      {std::string("kind: a\n\0", 9), "f.yaml:2:1: the file holds a zero byte"},
      {std::string(kLargestYaml + 1, '#'), "f.yaml:1:1: the file is larger than 1048576 bytes"},
      {std::string(100, '[') + std::string(100, ']'), "f.yaml:1:65: nested deeper than 64 levels"},
  };
  for (const auto& [text, said] : cases) {
    const std::string got = mistake(text);
    EXPECT_TRUE(got.starts_with(said)) << text.substr(0, 200) << "\n  says: " << got << "\n  and should: " << said;
  }
}

TEST(Manifest, EveryDocumentsMistakeIsTold) {
  const std::string got = mistake("kind: A\n---\nkind: SchedulingPolicy\nname: p\n---\nkind: B\n");
  EXPECT_NE(got.find("f.yaml:1:7: "), std::string::npos) << got;
  EXPECT_NE(got.find("\nf.yaml:6:7: "), std::string::npos) << got;
}

// Nine lines that would be 10^9 values.
TEST(Manifest, AliasesMayNotGrowWithoutBound) {
  std::string text = "kind: SchedulingPolicy\nname: p\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_NE(mistake(text).find("the file amounts to more than 100000 values"), std::string::npos);
  EXPECT_EQ(request("kind: SchedulingPolicy\nname: &n p\ntags: {a: *n}\n"),
            Json::parse(R"({"name": "p", "tags": {"a": "p"}})"));
}

TEST(Manifest, AJobMayBeGivenTwiceIfSomethingDiffers) {
  const std::string job = "kind: Job\njobName: j\njobQueue: q\njobDefinition: d\n";
  EXPECT_NE(mistake(job + "---\n" + job).find("to run it twice, let a name or a tag differ"), std::string::npos);
  EXPECT_EQ(mistake(job + "---\n" + job + "tags: {take: 2}\n"), "no mistake");
}

}  // namespace
}  // namespace teson::cli
