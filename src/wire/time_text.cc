#include "wire/time_text.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace teson::wire {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct Parts {
  int year, month, day, hour, minute, second, weekday;
  int64_t micros;
};

Parts parts_of(Instant instant) {
  using namespace std::chrono;
  const sys_time<microseconds> time{microseconds(instant.micros)};
  const auto day_point = floor<days>(time);
  const year_month_day date(day_point);
  const hh_mm_ss<microseconds> clock(time - day_point);
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          static_cast<int>(clock.hours().count()),
          static_cast<int>(clock.minutes().count()),
          static_cast<int>(clock.seconds().count()),
          static_cast<int>(weekday(day_point).c_encoding()),
          clock.subseconds().count()};
}

std::optional<Instant> instant_of(const Parts& p) {
  using namespace std::chrono;
  const year_month_day date(year(p.year), month(static_cast<unsigned>(p.month)), day(static_cast<unsigned>(p.day)));
  if (p.year < 1970 || !date.ok() || p.hour > 23 || p.minute > 59 || p.second > 59) return std::nullopt;
  const auto since = sys_days(date).time_since_epoch() + hours(p.hour) + minutes(p.minute) + seconds(p.second);
  return Instant{duration_cast<microseconds>(since).count() + p.micros};
}

// Reads a text from the left; once something is missing, ok() stays false.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  int digits(size_t count) {
    int value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (text_.empty() || text_.front() < '0' || text_.front() > '9') {
        ok_ = false;
        return 0;
      }
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  void literal(std::string_view expected) { ok_ = accept(expected) && ok_; }
  bool accept(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  // Position among the names, or -1.
  template <size_t N>
  int one_of(const std::array<std::string_view, N>& names) {
    for (size_t i = 0; i < N; ++i) {
      if (accept(names[i])) return static_cast<int>(i);
    }
    ok_ = false;
    return -1;
  }
  bool at_digit() const { return !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; }
  bool done() const { return ok_ && text_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::string_view text_;
  bool ok_ = true;
};

// ".123456789" to microseconds; what is finer is cut off.
int64_t read_fraction(Reader& reader, bool& good) {
  if (!reader.accept(".")) return 0;
  int64_t micros = 0;
  int count = 0;
  for (; reader.at_digit(); ++count) {
    const int digit = reader.digits(1);
    if (count < 6) micros = micros * 10 + digit;
  }
  good = count >= 1 && count <= 9;
  for (int i = count; i < 6; ++i) micros *= 10;
  return micros;
}

// "Z" or "+hh:mm": what to subtract to get to UTC.
Duration read_offset(Reader& reader, bool& good) {
  if (reader.accept("Z")) return {};
  const bool east = reader.accept("+");
  good = east || reader.accept("-");
  const int hours = reader.digits(2);
  reader.literal(":");
  const int minutes = reader.digits(2);
  good = good && hours <= 23 && minutes <= 59;
  return Duration::seconds((east ? 1 : -1) * (hours * 3600 + minutes * 60));
}

}  // namespace

std::string amz_date(Instant instant) {
  const Parts p = parts_of(instant);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", p.year, p.month, p.day, p.hour, p.minute, p.second);
}

std::optional<Instant> parse_amz_date(std::string_view text) {
  Reader reader(text);
  Parts p{};
  p.year = reader.digits(4);
  p.month = reader.digits(2);
  p.day = reader.digits(2);
  reader.literal("T");
  p.hour = reader.digits(2);
  p.minute = reader.digits(2);
  p.second = reader.digits(2);
  reader.literal("Z");
  return reader.done() ? instant_of(p) : std::nullopt;
}

std::string iso8601(Instant instant) {
  const Parts p = parts_of(instant);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", p.year, p.month, p.day, p.hour, p.minute, p.second,
                     p.micros / 1000);
}

std::optional<Instant> parse_iso8601(std::string_view text) {
  Reader reader(text);
  Parts p{};
  p.year = reader.digits(4);
  reader.literal("-");
  p.month = reader.digits(2);
  reader.literal("-");
  p.day = reader.digits(2);
  reader.literal("T");
  p.hour = reader.digits(2);
  reader.literal(":");
  p.minute = reader.digits(2);
  reader.literal(":");
  p.second = reader.digits(2);
  bool good_fraction = true;
  p.micros = read_fraction(reader, good_fraction);
  bool good_offset = true;
  const Duration offset = read_offset(reader, good_offset);
  if (!reader.done() || !good_fraction || !good_offset) return std::nullopt;
  const std::optional<Instant> local = instant_of(p);
  if (!local) return std::nullopt;
  return *local - offset;
}

std::string http_date(Instant instant) {
  const Parts p = parts_of(instant);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[static_cast<size_t>(p.weekday)], p.day,
                     kMonths[static_cast<size_t>(p.month - 1)], p.year, p.hour, p.minute, p.second);
}

std::optional<Instant> parse_http_date(std::string_view text) {
  Reader reader(text);
  Parts p{};
  reader.one_of(kDays);
  reader.literal(", ");
  p.day = reader.digits(2);
  reader.literal(" ");
  p.month = reader.one_of(kMonths) + 1;
  reader.literal(" ");
  p.year = reader.digits(4);
  reader.literal(" ");
  p.hour = reader.digits(2);
  reader.literal(":");
  p.minute = reader.digits(2);
  reader.literal(":");
  p.second = reader.digits(2);
  reader.literal(" GMT");
  return reader.done() ? instant_of(p) : std::nullopt;
}

}  // namespace teson::wire
