// What AWS's requests look like (names, JSON types, what must be given), and YAML turned into them: a scalar becomes
// what its field is, so `on` and `010` stay text where AWS wants a string.
//
// Source: botocore's model of AWS Batch. Members whose inside teson does not read are taken as they come. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json_access.h"
#include "cli/yaml_tree.h"

namespace teson::cli {

struct AwsShape;

struct AwsMember {
  std::string name;
  bool required = false;
  std::shared_ptr<const AwsShape> shape;
};

struct AwsShape {
  enum class Type { kText, kWhole, kNumber, kTruth, kAny, kList, kMap, kStructure };
  Type type = Type::kAny;
  std::vector<std::string> allowed;         // of a text; empty: any
  std::shared_ptr<const AwsShape> element;  // of a list or a map
  std::vector<AwsMember> members;

  // "priority!:i tags:{s} state:s<ENABLED|DISABLED>": name, ! where it must be given, and type: s text, i whole
  // number, f number, b truth, a anything, [element], {value} of a map, (members). A mistake in it aborts.
  static AwsShape parse(std::string_view text);
};

// The first mistake in an earlier place: "FILE:LINE:COLUMN: computeResources.maxvCpus: ...". `what` names the whole:
// "JobQueue".
Result<Json> shaped(const YamlNode& node, const AwsShape& shape, const std::string& file, const std::string& what);

}  // namespace teson::cli
