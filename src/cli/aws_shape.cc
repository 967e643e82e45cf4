#include "cli/aws_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/try.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

using Type = AwsShape::Type;

class ShapeParser {
 public:
  explicit ShapeParser(std::string_view text) : rest_(text) {}

  AwsShape members_until(char end) {
    AwsShape out;
    out.type = Type::kStructure;
    for (blanks(); !rest_.empty() && rest_.front() != end; blanks()) {
      const size_t name_end = rest_.find_first_of("!:");
      TESON_CHECK(name_end != std::string_view::npos, "a member of an AWS shape has no type");
      AwsMember member{std::string(rest_.substr(0, name_end)), rest_[name_end] == '!', nullptr};
      rest_.remove_prefix(name_end + (member.required ? 2 : 1));
      member.shape = std::make_shared<AwsShape>(shape());
      out.members.push_back(std::move(member));
    }
    return out;
  }

 private:
  AwsShape shape() {
    TESON_CHECK(!rest_.empty(), "an AWS shape ends early");
    const char kind = rest_.front();
    rest_.remove_prefix(1);
    AwsShape out;
    if (kind == '(') {
      out = members_until(')');
      rest_.remove_prefix(1);
    } else if (kind == '[' || kind == '{') {
      out.type = kind == '[' ? Type::kList : Type::kMap;
      out.element = std::make_shared<AwsShape>(shape());
      rest_.remove_prefix(1);
    } else {
      constexpr std::string_view kLetters = "sifba";
      constexpr Type kTypes[] = {Type::kText, Type::kWhole, Type::kNumber, Type::kTruth, Type::kAny};
      const size_t at = kLetters.find(kind);
      TESON_CHECK(at != std::string_view::npos, "an AWS shape has an unknown type");
      out.type = kTypes[at];
      if (rest_.starts_with('<')) out.allowed = words();
    }
    return out;
  }

  std::vector<std::string> words() {
    std::vector<std::string> out;
    while (rest_.front() != '>') {
      rest_.remove_prefix(1);
      const size_t end = rest_.find_first_of("|>");
      out.emplace_back(rest_.substr(0, end));
      rest_.remove_prefix(end);
    }
    rest_.remove_prefix(1);
    return out;
  }

  void blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string shown(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing (null)";
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMapping:
      return "a map";
    case YamlNode::Kind::kScalar:
      break;
  }
  return fmt::format("{}{}", "'" + cut_to_width(printable(node.text), 60) + "'", node.quoted ? " in quotes" : "");
}

bool is_whole(const std::string& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  return text == fmt::format("{}", value);  // so neither 010 nor -0
}

bool is_number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const size_t digit = text.starts_with('-') ? 1 : 0;
  const bool begins = digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0;
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && begins;
}

class Shaper {
 public:
  Shaper(const std::string& file, const std::string& what) : file_(file), what_(what) {}

  Result<Json> value(const YamlNode& node, const AwsShape& shape, const std::string& path) const {
    switch (shape.type) {
      case Type::kText:
        return text(node, shape, path);
      case Type::kWhole:
        if (int64_t number = 0; is_plain(node) && is_whole(node.text, number)) return Json(number);
        return wrong(node, path, "a whole number in digits is expected, such as 512, without quotes");
      case Type::kNumber:
        if (double number = 0; is_plain(node) && is_number(node.text, number)) return Json(number);
        return wrong(node, path, "a number is expected, such as 0.5, without quotes");
      case Type::kTruth:
        if (is_plain(node) && (node.text == "true" || node.text == "false")) return Json(node.text == "true");
        return wrong(node, path, "true or false is expected, without quotes");
      case Type::kAny:
        return anything(node, path);
      case Type::kList:
        return list(node, shape, path);
      case Type::kMap:
        return map(node, shape, path);
      case Type::kStructure:
        break;
    }
    return structure(node, shape, path);
  }

 private:
  static bool is_plain(const YamlNode& node) { return node.kind == YamlNode::Kind::kScalar && !node.quoted; }

  std::unexpected<Error> wrong(const YamlNode& node, const std::string& path, const std::string& right) const {
    const std::string& name = path.empty() ? what_ : path;
    return invalid(at(file_, node.place, fmt::format("{}: {} is given: {}", printable(name), shown(node), right)));
  }

  Result<Json> text(const YamlNode& node, const AwsShape& shape, const std::string& path) const {
    if (node.kind == YamlNode::Kind::kNull) {
      return wrong(node, path, "a string is expected; leave the field out, or write quotes: 'null', ''");
    }
    if (node.kind != YamlNode::Kind::kScalar) return wrong(node, path, "a string is expected");
    if (!shape.allowed.empty() && std::ranges::find(shape.allowed, node.text) == shape.allowed.end()) {
      return wrong(node, path, fmt::format("one of {} is expected", fmt::join(shape.allowed, ", ")));
    }
    return Json(node.text);
  }

  Result<Json> list(const YamlNode& node, const AwsShape& shape, const std::string& path) const {
    if (node.kind != YamlNode::Kind::kSequence) return wrong(node, path, "a list is expected: [a, b], or lines with -");
    Json out = Json::array();
    for (size_t i = 0; i < node.items.size(); ++i) {
      TESON_TRY(Json item, value(node.items[i], *shape.element, fmt::format("{}[{}]", path, i)));
      out.push_back(std::move(item));
    }
    return out;
  }

  Result<Json> map(const YamlNode& node, const AwsShape& shape, const std::string& path) const {
    if (node.kind != YamlNode::Kind::kMapping) return wrong(node, path, "a map is expected: {a: b}, or lines a: b");
    Json out = Json::object();
    for (const auto& [key, member] : node.members) {
      TESON_TRY(out[key.text], value(member, *shape.element, joined(path, key.text)));
    }
    return out;
  }

  Result<Json> structure(const YamlNode& node, const AwsShape& shape, const std::string& path) const {
    if (node.kind != YamlNode::Kind::kMapping) return wrong(node, path, "a map of fields is expected, lines a: b");
    Json out = Json::object();
    for (const auto& [key, member] : node.members) {
      const auto known = std::ranges::find(shape.members, key.text, &AwsMember::name);
      if (known == shape.members.end()) return unknown(key, shape, path);
      TESON_TRY(out[key.text], value(member, *known->shape, joined(path, key.text)));
    }
    for (const AwsMember& member : shape.members) {
      if (!member.required || out.contains(member.name)) continue;
      return invalid(at(
          file_, node.place,
          fmt::format("{}: '{}' is missing: it must be given", path.empty() ? what_ : printable(path), member.name)));
    }
    return out;
  }

  std::unexpected<Error> unknown(const YamlNode::Key& key, const AwsShape& shape, const std::string& path) const {
    std::vector<std::string> names;
    std::string meant;
    for (const AwsMember& member : shape.members) {
      names.push_back(member.name);
      if (lower(member.name) == lower(key.text)) meant = member.name;
    }
    const std::string right =
        meant.empty() ? fmt::format("known are {}", fmt::join(names, ", ")) : fmt::format("write '{}'", meant);
    return invalid(at(file_, key.place,
                      fmt::format("{}: there is no field '{}'; {}", path.empty() ? what_ : printable(path),
                                  printable(key.text), right)));
  }

  // As YAML 1.2 reads it: true and false, numbers, else text.
  Result<Json> anything(const YamlNode& node, const std::string& path) const {
    static const auto any = std::make_shared<const AwsShape>();
    AwsShape whole{Type::kList, {}, any, {}};
    if (node.kind == YamlNode::Kind::kSequence) return list(node, whole, path);
    if (node.kind == YamlNode::Kind::kMapping) return map(node, whole, path);
    if (node.kind == YamlNode::Kind::kNull) return wrong(node, path, "leave the field out, or give a value");
    if (node.quoted) return Json(node.text);
    if (node.text == "true" || node.text == "false") return Json(node.text == "true");
    if (int64_t number = 0; is_whole(node.text, number)) return Json(number);
    return Json(node.text);
  }

  static std::string joined(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  const std::string& file_;
  const std::string& what_;
};

}  // namespace

AwsShape AwsShape::parse(std::string_view text) { return ShapeParser(text).members_until('\0'); }

Result<Json> shaped(const YamlNode& node, const AwsShape& shape, const std::string& file, const std::string& what) {
  return Shaper(file, what).value(node, shape, "");
}

}  // namespace teson::cli
