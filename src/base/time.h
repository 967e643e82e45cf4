// Instants and durations as whole microseconds: exact, ordered, printable, and never read from a clock here.
#pragma once

#include <compare>
#include <cstdint>

namespace teson {

struct Duration {
  int64_t micros = 0;

  static constexpr Duration seconds(int64_t n) { return {n * 1'000'000}; }
  static constexpr Duration millis(int64_t n) { return {n * 1'000}; }
  constexpr int64_t whole_seconds() const { return micros / 1'000'000; }
  constexpr int64_t whole_millis() const { return micros / 1'000; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return {micros + other.micros}; }
  constexpr Duration operator-(Duration other) const { return {micros - other.micros}; }
  constexpr Duration operator*(int64_t factor) const { return {micros * factor}; }
};

// Microseconds since the Unix epoch, UTC.
struct Instant {
  int64_t micros = 0;

  static constexpr Instant from_millis(int64_t n) { return {n * 1'000}; }
  constexpr int64_t millis() const { return micros / 1'000; }
  constexpr double seconds() const { return static_cast<double>(micros) / 1e6; }

  constexpr auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration d) const { return {micros + d.micros}; }
  constexpr Instant operator-(Duration d) const { return {micros - d.micros}; }
  constexpr Duration operator-(Instant other) const { return {micros - other.micros}; }
};

}  // namespace teson
