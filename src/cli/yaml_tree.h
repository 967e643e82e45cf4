// YAML as a tree that knows where everything stands and how it was written: quoted or not, which decides what a scalar
// can be (cli/aws_shape.h).
//
// Stricter than yaml-cpp's own nodes: a key given twice, tabs as indentation, bytes that are not UTF-8 and whatever
// grows beyond the limits (size, nodes with aliases followed, depth) are refused, with FILE:LINE:COLUMN. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace teson::cli {

struct Place {
  int line = 1;  // both from 1
  int column = 1;
};

struct YamlMember;

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMapping };
  struct Key {
    std::string text;
    Place place;
  };

  Kind kind = Kind::kNull;
  Place place;
  bool quoted = false;  // of a scalar: in quotes, or a block
  std::string text;
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;

  const YamlNode* member(std::string_view name) const;
};

struct YamlMember {
  YamlNode::Key key;
  YamlNode value;
};

constexpr size_t kLargestYaml = 1 << 20;

// "FILE:LINE:COLUMN: what".
std::string at(const std::string& file, Place place, const std::string& what);

// The documents of a file, without empty ones. `file` is for messages.
Result<std::vector<YamlNode>> read_yaml(const std::string& text, const std::string& file);

}  // namespace teson::cli
