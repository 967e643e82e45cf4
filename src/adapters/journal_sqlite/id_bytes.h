// Job ids as 16 bytes and names in lower case: how the tables hold them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "domain/ids.h"

namespace teson {

using IdBytes = std::array<char, 16>;

// Big-endian, so that the order of the bytes is the order of the ids.
inline IdBytes id_bytes(const JobId& id) {
  IdBytes bytes;
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<char>(id.uuid.high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<char>(id.uuid.low >> (56 - 8 * i));
  }
  return bytes;
}

inline std::string_view view(const IdBytes& bytes) { return {bytes.data(), bytes.size()}; }

inline JobId id_from_bytes(std::string_view bytes) {
  JobId id;
  for (size_t i = 0; i < 16 && i < bytes.size(); ++i) {
    uint64_t& word = i < 8 ? id.uuid.high : id.uuid.low;
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return id;
}

// ASCII only: job names are ASCII (AWS Batch API, SubmitJob jobName).
inline std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace teson
