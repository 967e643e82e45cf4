// Who did what: <data>/audit.log, a JSON object a line, readable by its owner alone.
//
//   {"time":"2026-11-30T12:00:00.123Z","user":"ana","key":"AKIA...","action":"batch:SubmitJob","resource":"job/...",
//    "outcome":"ok","source":"127.0.0.1:51234"}
//
// Thread: record() any, concurrently; it only queues, and a thread of its own writes. Limits: at `max_bytes` the file
// becomes audit.log.1, .1 becomes .2 and so on up to .`kept`, the oldest goes. When `kMaxWaiting` records wait, and
// while the file cannot be written (disk full), records are lost: the server's log says so, a line of this file counts
// them once it can be written again, and service goes on. Of refused signatures `kStrangersASecond` are kept in a
// second, so that nobody without a key can push the record of what was done out of the bound; the rest are counted.
// Durable against the server's death once written, milliseconds after the answer; not against the machine's.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "api/http/caller.h"
#include "base/owned_fd.h"
#include "base/result.h"

namespace teson {

struct AuditLogOptions {
  int64_t max_bytes = 16 * 1024 * 1024;
  int kept = 4;  // beside the file being written
};

class AuditLog final : public http::AuditSink {
 public:
  static constexpr size_t kMaxWaiting = 50'000;
  static constexpr int kStrangersASecond = 20;

  explicit AuditLog(std::string path, AuditLogOptions options = {});
  // Writes what waits.
  ~AuditLog() override;

  void record(http::AuditRecord record) override;

 private:
  void run();
  void write(const std::deque<http::AuditRecord>& records);
  Status append(const std::string& text);
  Status open_file();
  void rotate();

  const std::string path_;
  const AuditLogOptions options_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<http::AuditRecord> waiting_;
  int64_t overflowed_ = 0;  // not queued
  int64_t strangers_second_ = 0;
  int strangers_ = 0;
  int64_t strangers_dropped_ = 0;
  bool stopping_ = false;

  // The thread's own.
  OwnedFd file_;
  int64_t size_ = 0;
  int64_t lost_ = 0;  // not written since the last line that was
  bool failing_ = false;
  std::thread thread_;
};

// The record as its line. Pure.
std::string audit_line(const http::AuditRecord& record);

}  // namespace teson
