#include "cli/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "cli/text.h"

namespace teson::cli {
namespace {

constexpr size_t kMostNodes = 100'000;
constexpr size_t kMostDocuments = 1'000;
constexpr size_t kDeepest = 64;

// Never leaves this file: yaml-cpp's handlers have no other way to stop it.
struct Refused {
  Place place;
  std::string what;
};

Place place_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Lines that are indented with a tab somewhere.
class Indentation {
 public:
  explicit Indentation(std::string_view text) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = text.substr(begin, end - begin);
      const size_t blank = std::min(line.find_first_not_of(" \t"), line.size());
      tabs_.push_back(line.substr(0, blank).find('\t'));
      begin = end + 1;
    }
  }
  std::optional<Place> tab_in(int line) const {
    if (line < 1 || line > std::ssize(tabs_) || tabs_[line - 1] == std::string_view::npos) return std::nullopt;
    return Place{line, static_cast<int>(tabs_[line - 1]) + 1};
  }

 private:
  std::vector<size_t> tabs_;
};

const char kNoTabs[] = "a tab is used for indentation, which YAML does not allow: use blanks";

class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const Indentation& indentation) : indentation_(indentation) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {
    root_ = {};
    frames_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    begin(mark, anchor, YamlNode::Kind::kNull);
    end();
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    begin(mark, anchor, YamlNode::Kind::kScalar);
    const bool text = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!text && tag != "?" && !tag.empty()) {
      throw Refused{place_of(mark), fmt::format("the tag '{}' is not supported: leave it out", printable(tag))};
    }
    frames_.back().node.quoted = text;
    frames_.back().node.text = value;
    end();
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) throw Refused{place_of(mark), "this alias refers to what it stands in"};
    count(place_of(mark), known->second.nodes);
    YamlNode copy = known->second.node;
    copy.place = place_of(mark);
    add(std::move(copy));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    begin(mark, anchor, YamlNode::Kind::kSequence, style);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    begin(mark, anchor, YamlNode::Kind::kMapping, style);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    bool flow = false;
    size_t nodes_before = 0;
    std::optional<YamlNode::Key> key;
  };
  struct Anchored {
    YamlNode node;
    size_t nodes = 0;
  };

  void begin(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind,
             YAML::EmitterStyle::value style = YAML::EmitterStyle::Default) {
    const Place place = place_of(mark);
    const bool within_flow = !frames_.empty() && frames_.back().flow;
    if (const auto tab = indentation_.tab_in(place.line); tab && !within_flow) throw Refused{*tab, kNoTabs};
    if (frames_.size() == kDeepest) throw Refused{place, fmt::format("nested deeper than {} levels", kDeepest)};
    const size_t before = nodes_;
    count(place, 1);
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = place;
    frame.anchor = anchor;
    frame.flow = within_flow || style == YAML::EmitterStyle::Flow;
    frame.nodes_before = before;
    frames_.push_back(std::move(frame));
  }

  void end() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (frame.anchor != 0) anchors_[frame.anchor] = {frame.node, nodes_ - frame.nodes_before};
    add(std::move(frame.node));
  }

  void add(YamlNode node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = frames_.back();
    if (parent.node.kind == YamlNode::Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = key_of(parent.node, node);
    } else {
      if (node.kind == YamlNode::Kind::kNull) node.place = parent.key->place;  // yaml-cpp's is what comes next
      parent.node.members.push_back({*std::move(parent.key), std::move(node)});
      parent.key.reset();
    }
  }

  static YamlNode::Key key_of(const YamlNode& mapping, const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kScalar) throw Refused{node.place, "a key must be one word, not a list or a map"};
    if (node.text == "<<" && !node.quoted) {
      throw Refused{node.place,
                    "merge keys (<<) are not supported: an alias can stand for a whole value, or write "
                    "the fields out"};
    }
    for (const auto& [key, value] : mapping.members) {
      if (key.text == node.text) {
        throw Refused{node.place, fmt::format("the key '{}' is given twice, first in line {}: keep one of them",
                                              printable(node.text), key.place.line)};
      }
    }
    return {node.text, node.place};
  }

  void count(Place place, size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > kMostNodes) {
      throw Refused{place,
                    fmt::format("the file amounts to more than {} values, aliases followed: split it", kMostNodes)};
    }
  }

  const Indentation& indentation_;
  YamlNode root_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  size_t nodes_ = 0;  // of all documents
};

// yaml-cpp's words for a tab are about what it found behind it.
Refused refusal_of(const YAML::Exception& error, const Indentation& indentation) {
  const int line = error.mark.line + 1;
  for (const int candidate : {line, line - 1}) {
    if (const auto tab = indentation.tab_in(candidate)) return {*tab, kNoTabs};
  }
  const Place place = error.mark.is_null() ? Place{} : place_of(error.mark);
  return {place, fmt::format("not YAML: {}", printable(error.msg))};
}

}  // namespace

const YamlNode* YamlNode::member(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key.text == name) return &value;
  }
  return nullptr;
}

std::string at(const std::string& file, Place place, const std::string& what) {
  return fmt::format("{}:{}:{}: {}", printable(file), place.line, place.column, what);
}

Result<std::vector<YamlNode>> read_yaml(const std::string& text, const std::string& file) {
  if (text.size() > kLargestYaml) {
    return invalid(at(file, {}, fmt::format("the file is larger than {} bytes: split it", kLargestYaml)));
  }
  if (!is_utf8(text)) return invalid(at(file, {}, "the file is not UTF-8 text"));
  if (const size_t zero = text.find('\0'); zero != std::string::npos) {
    const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
    return invalid(at(file, {static_cast<int>(lines) + 1, 1}, "the file holds a zero byte: it is not text"));
  }
  const Indentation indentation(text);
  Builder builder(indentation);
  std::vector<YamlNode> documents;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
      YamlNode document = builder.take();
      if (document.kind == YamlNode::Kind::kNull) continue;
      if (documents.size() == kMostDocuments) {
        return invalid(at(file, document.place, fmt::format("more than {} documents: split the file", kMostDocuments)));
      }
      documents.push_back(std::move(document));
    }
  } catch (const Refused& refused) {
    return invalid(at(file, refused.place, refused.what));
  } catch (const YAML::Exception& error) {
    const Refused refused = refusal_of(error, indentation);
    return invalid(at(file, refused.place, refused.what));
  }
  return documents;
}

}  // namespace teson::cli
