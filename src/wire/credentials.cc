#include "wire/credentials.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/headers.h"

namespace teson::wire {
namespace {

constexpr size_t kMaxBytes = 1024 * 1024;

std::unexpected<Error> at_line(int line, std::string_view what) {
  return invalid(fmt::format("credentials, line {}: {}", line, what));
}

class Parser {
 public:
  Status line(std::string_view raw) {
    ++number_;
    if (raw.ends_with('\r')) raw.remove_suffix(1);
    const std::string_view text = trimmed(raw);
    if (text.empty() || text.front() == '#' || text.front() == ';') return {};
    if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x20 && c != '\t'; })) {
      return at_line(number_, "there is a control character in it");
    }
    if (text.front() == '[') return section(text);
    // An indented line continues a nested setting (as "s3 =" has them): nothing of ours.
    if (raw.front() == ' ' || raw.front() == '\t') return started_ ? Status() : no_section();
    return setting(text);
  }

  Result<std::vector<CredentialProfile>> end() {
    if (Status status = end_section(); !status) return std::unexpected(std::move(status.error()));
    std::erase_if(profiles_, [](const CredentialProfile& p) { return p.access_key_id.empty(); });
    return std::move(profiles_);
  }

 private:
  std::unexpected<Error> no_section() const {
    return at_line(number_, "there is a setting before any profile; a line such as [default] must come first");
  }

  Status section(std::string_view text) {
    if (Status status = end_section(); !status) return status;
    if (text.back() != ']') return at_line(number_, "a profile is written [name], and nothing may follow the ']'");
    const std::string name(trimmed(text.substr(1, text.size() - 2)));
    if (name.empty()) return at_line(number_, "the profile has no name between '[' and ']'");
    if (name.find(']') != std::string::npos) return at_line(number_, "a profile's name may not hold ']'");
    for (const CredentialProfile& profile : profiles_) {
      if (profile.name == name) return at_line(number_, fmt::format("the profile '{}' is there already", name));
    }
    profiles_.push_back({name, {}, {}, {}});
    section_line_ = number_;
    started_ = true;
    return {};
  }

  Status setting(std::string_view text) {
    if (!started_) return no_section();
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) return at_line(number_, "expected 'name = value'");
    const std::string key = lower_case(trimmed(text.substr(0, equals)));
    const std::string_view value = trimmed(text.substr(equals + 1));
    CredentialProfile& profile = profiles_.back();
    std::string* field = key == "aws_access_key_id"       ? &profile.access_key_id
                         : key == "aws_secret_access_key" ? &profile.secret_access_key
                         : key == "aws_session_token"     ? &profile.session_token
                                                          : nullptr;
    if (key.empty()) return at_line(number_, "there is no name before '='");
    if (field == nullptr) return {};
    if (value.empty()) return at_line(number_, fmt::format("'{}' has no value", key));
    if (!field->empty()) return at_line(number_, fmt::format("'{}' is given twice in profile '{}'", key, profile.name));
    *field = value;
    return {};
  }

  Status end_section() const {
    if (!started_) return {};
    const CredentialProfile& profile = profiles_.back();
    if (profile.access_key_id.empty() == profile.secret_access_key.empty()) return {};
    return at_line(section_line_,
                   fmt::format("profile '{}' has {} but no {}", profile.name,
                               profile.access_key_id.empty() ? "aws_secret_access_key" : "aws_access_key_id",
                               profile.access_key_id.empty() ? "aws_access_key_id" : "aws_secret_access_key"));
  }

  std::vector<CredentialProfile> profiles_;
  int number_ = 0;
  int section_line_ = 0;
  bool started_ = false;
};

// What would read back as something else.
bool is_writable(std::string_view text) {
  return !text.empty() && trimmed(text) == text &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x20; });
}

}  // namespace

Result<std::vector<CredentialProfile>> parse_credentials(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return invalid(
        fmt::format("credentials: the file has {} bytes; more than {} cannot be right", text.size(), kMaxBytes));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Parser parser;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (Status status = parser.line(text.substr(0, end)); !status) return std::unexpected(std::move(status.error()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.end();
}

Result<CredentialProfile> find_profile(const std::vector<CredentialProfile>& profiles, std::string_view name) {
  std::vector<std::string_view> names;
  for (const CredentialProfile& profile : profiles) {
    if (profile.name == name) return profile;
    names.push_back(profile.name);
  }
  return not_found(fmt::format("credentials: there is no profile '{}' with keys; there is: {}", name,
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

Result<std::string> render_credentials(const std::vector<CredentialProfile>& profiles) {
  std::string out;
  for (const CredentialProfile& profile : profiles) {
    const bool good = is_writable(profile.name) && profile.name.find(']') == std::string::npos &&
                      is_writable(profile.access_key_id) && is_writable(profile.secret_access_key) &&
                      (profile.session_token.empty() || is_writable(profile.session_token));
    if (!good) {
      return invalid(
          fmt::format("credentials: profile '{}' cannot be written: its name and keys must not be empty, begin or end "
                      "with a blank, or hold control characters, and the name no ']'",
                      profile.name));
    }
    if (!out.empty()) out += '\n';
    out += fmt::format("[{}]\naws_access_key_id = {}\naws_secret_access_key = {}\n", profile.name,
                       profile.access_key_id, profile.secret_access_key);
    if (!profile.session_token.empty()) out += fmt::format("aws_session_token = {}\n", profile.session_token);
  }
  return out;
}

}  // namespace teson::wire
