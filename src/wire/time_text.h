// The time formats of AWS's protocols. Pure; years 1970 to 9999; always UTC.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace teson::wire {

// "20150830T123600Z", as X-Amz-Date has it.
std::string amz_date(Instant instant);
std::optional<Instant> parse_amz_date(std::string_view text);

// "2015-08-30T12:36:00.123Z", milliseconds always.
std::string iso8601(Instant instant);
// With or without a fraction (up to 9 digits, kept to the microsecond), "Z" or an offset "+02:00".
std::optional<Instant> parse_iso8601(std::string_view text);

// "Sun, 30 Aug 2015 12:36:00 GMT" (RFC 9110, IMF-fixdate).
std::string http_date(Instant instant);
std::optional<Instant> parse_http_date(std::string_view text);

}  // namespace teson::wire
