// A log on standard output: the job's own lines, nothing added, unless asked for.
#pragma once

#include "cli/log_reader.h"

namespace teson::cli {

struct LogFormat {
  bool json = false;        // one JSON object a line: attempt, timestamp (ms), message
  bool timestamps = false;  // each line after its time, UTC
};

// Lines go to standard output, all else to standard error. Flushed whenever the
// reader has caught up, so that a pipe sees lines as they come.
LogSink log_output(LogFormat format);

}  // namespace teson::cli
