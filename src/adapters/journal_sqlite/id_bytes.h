// Job ids as bytes and names in lower case: how the tables hold them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "domain/ids.h"

namespace teson {

// 16 bytes, and 4 more for the index of an array's child.
struct IdBytes {
  std::array<char, 20> bytes{};
  size_t size = 16;
};

// Big-endian, so that the order of the bytes is the order of the ids.
inline IdBytes id_bytes(const JobId& id) {
  IdBytes out;
  for (int i = 0; i < 8; ++i) {
    out.bytes[i] = static_cast<char>(id.uuid.high >> (56 - 8 * i));
    out.bytes[8 + i] = static_cast<char>(id.uuid.low >> (56 - 8 * i));
  }
  if (id.is_child()) {
    for (int i = 0; i < 4; ++i) out.bytes[16 + i] = static_cast<char>(static_cast<uint32_t>(id.index) >> (24 - 8 * i));
    out.size = 20;
  }
  return out;
}

inline std::string_view view(const IdBytes& id) { return {id.bytes.data(), id.size}; }

inline JobId id_from_bytes(std::string_view bytes) {
  JobId id;
  for (size_t i = 0; i < 16 && i < bytes.size(); ++i) {
    uint64_t& word = i < 8 ? id.uuid.high : id.uuid.low;
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (bytes.size() == 20) {
    uint32_t index = 0;
    for (size_t i = 16; i < 20; ++i) index = index << 8 | static_cast<unsigned char>(bytes[i]);
    id.index = static_cast<int32_t>(index);
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
