#include "serve/audit_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/file_kind.h"
#include "base/try.h"
#include "wire/json.h"
#include "wire/time_text.h"

namespace teson {
namespace {

void append_text(std::string& out, std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
  if (plain) {
    out.append(1, '"').append(text).append(1, '"');
  } else {
    out += wire::json_text(wire::Json(std::string(text)));
  }
}

http::AuditRecord note_of(Instant at, std::string outcome) {
  return {at, "", "", "teson:AuditLog", "", std::move(outcome), ""};
}

}  // namespace

std::string audit_line(const http::AuditRecord& record) {
  std::string out = "{\"time\":\"" + wire::iso8601(record.at) + '"';
  for (const auto& [name, value] : {std::pair("user", &record.user), std::pair("key", &record.key),
                                    std::pair("action", &record.action), std::pair("resource", &record.resource),
                                    std::pair("outcome", &record.outcome), std::pair("source", &record.source)}) {
    out.append(",\"").append(name).append("\":");
    append_text(out, *value);
  }
  return out + "}\n";
}

AuditLog::AuditLog(std::string path, AuditLogOptions options) : path_(std::move(path)), options_(options) {
  thread_ = std::thread([this] { run(); });
}

AuditLog::~AuditLog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void AuditLog::record(http::AuditRecord record) {
  {
    const std::lock_guard lock(mutex_);
    if (record.user.empty()) {
      const int64_t second = record.at.micros / 1'000'000;
      if (second != strangers_second_) {
        strangers_second_ = second;
        strangers_ = 0;
      }
      if (++strangers_ > kStrangersASecond) {
        ++strangers_dropped_;
        return;
      }
    }
    if (waiting_.size() >= kMaxWaiting) {
      ++overflowed_;
      return;
    }
    waiting_.push_back(std::move(record));
  }
  wake_.notify_one();
}

void AuditLog::run() {
  for (;;) {
    std::deque<http::AuditRecord> records;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      records.swap(waiting_);
      if (strangers_dropped_ > 0) {
        records.push_front(note_of(records.front().at, fmt::format("{} more requests with refused signatures are not "
                                                                   "listed",
                                                                   strangers_dropped_)));
        strangers_dropped_ = 0;
      }
      lost_ += std::exchange(overflowed_, 0);
    }
    write(records);
  }
}

void AuditLog::write(const std::deque<http::AuditRecord>& records) {
  std::string text;
  if (lost_ > 0) text = audit_line(note_of(records.front().at, fmt::format("{} records before this were lost", lost_)));
  for (const http::AuditRecord& record : records) text += audit_line(record);
  const Status written = append(text);
  if (written) {
    if (failing_) spdlog::info("the audit log is written again; {} records were lost", lost_);
    failing_ = false;
    lost_ = 0;
    return;
  }
  lost_ += std::ssize(records);
  if (!failing_) spdlog::error("the audit log is not written, and service goes on: {}", written.error().message);
  failing_ = true;
}

Status AuditLog::append(const std::string& text) {
  struct stat info{};
  // Moved or removed by somebody: what is written would be seen by nobody.
  if (file_ && (fstat(file_.get(), &info) != 0 || info.st_nlink == 0)) file_.reset();
  if (!file_) TESON_TRY_STATUS(open_file());
  if (size_ > 0 && size_ + std::ssize(text) > options_.max_bytes) {
    rotate();
    TESON_TRY_STATUS(open_file());
  }
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file_.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int error = errno;
      // No line is left half written.
      if (ftruncate(file_.get(), size_) != 0) file_.reset();
      return std::unexpected(make_errno_error("write " + path_, error));
    }
    done += static_cast<size_t>(wrote);
  }
  size_ += std::ssize(text);
  return {};
}

Status AuditLog::open_file() {
  file_.reset(open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600));
  struct stat info{};
  if (!file_ || fstat(file_.get(), &info) != 0) return errno_error("open " + path_);
  if (!S_ISREG(info.st_mode)) {
    file_.reset();
    return fail(ErrorKind::kDenied, fmt::format("{} is {}, not a regular file", path_, file_kind(info.st_mode)));
  }
  size_ = info.st_size;
  char last = '\n';
  // The server died in the middle of a line.
  if (size_ > 0 && pread(file_.get(), &last, 1, size_ - 1) == 1 && last != '\n') {
    if (::write(file_.get(), "\n", 1) != 1) return errno_error("write " + path_);
    ++size_;
  }
  return {};
}

void AuditLog::rotate() {
  file_.reset();
  for (int number = options_.kept; number >= 1; --number) {
    const std::string from = number == 1 ? path_ : fmt::format("{}.{}", path_, number - 1);
    const std::string to = fmt::format("{}.{}", path_, number);
    if (rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT) {
      spdlog::error("the audit log cannot be rotated: {} to {}: {}", from, to,
                    make_errno_error("rename", errno).message);
      return;
    }
  }
}

}  // namespace teson
