// The AWS "credentials" file as a value: named profiles of keys. Text in, text out; files are the caller's business.
//
//   [default]
//   aws_access_key_id = AKIA...
//   aws_secret_access_key = ...
//
// Pure; any thread. Other keys of a profile and profiles without keys are ignored, since the AWS tools put more there.
// Messages give line numbers and key names, never values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace teson::wire {

struct CredentialProfile {
  std::string name;
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // empty: none

  bool operator==(const CredentialProfile&) const = default;
};

// In the order of the file. Refused: a line that is neither a section, "key = value", a comment (# or ;) nor blank; a
// key before any section; a section or one of our keys twice; one half of a key pair without the other; a file over
// 1 MiB.
Result<std::vector<CredentialProfile>> parse_credentials(std::string_view text);

// The profile of that name, or an error that lists those there are.
Result<CredentialProfile> find_profile(const std::vector<CredentialProfile>& profiles, std::string_view name);

// What parse_credentials reads back. Names and values must hold no line break or surrounding blanks, names no ']'.
Result<std::string> render_credentials(const std::vector<CredentialProfile>& profiles);

}  // namespace teson::wire
