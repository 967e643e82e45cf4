#include "cli/log_output.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/output.h"
#include "cli/text.h"
#include "wire/time_text.h"

namespace teson::cli {
namespace {

void write_line(const LogFormat& format, const LogEvent& event) {
  if (format.json) {
    print(
        json_line(Json::object(
            {{"attempt", event.attempt}, {"timestamp", event.at.millis()}, {"message", std::string(event.message)}})) +
        "\n");
    return;
  }
  if (format.timestamps) print(wire::iso8601(event.at) + " ");
  print(event.message);
  print("\n");
}

void write_attempt(const AttemptView& attempt) {
  std::fflush(stdout);
  if (attempt.log_stream.empty()) {
    const std::string& why = attempt.reason.empty() ? attempt.cause : attempt.reason;
    std::fputs(fmt::format("--- attempt {} never ran: {} ---\n", attempt.number, printable(why)).c_str(), stderr);
  } else if (attempt.number > 1) {
    std::fputs(fmt::format("--- attempt {} ---\n", attempt.number).c_str(), stderr);
  }
}

}  // namespace

LogSink log_output(LogFormat format) {
  return {
      .line = [format](const LogEvent& event) { write_line(format, event); },
      .caught_up = [] { std::fflush(stdout); },
      .attempt = write_attempt,
      .notice = [](std::string_view text) { note(text); },
  };
}

}  // namespace teson::cli
