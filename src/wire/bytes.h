// Text forms of bytes: hexadecimal and base64 (RFC 4648). Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace teson::wire {

// Lower case, two digits a byte.
std::string hex(std::span<const uint8_t> bytes);
// Even length, either case; anything else is nullopt.
std::optional<std::string> from_hex(std::string_view text);

std::string base64(std::string_view bytes);
// The standard alphabet with its padding and nothing else (no blanks or line breaks), or nullopt.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace teson::wire
