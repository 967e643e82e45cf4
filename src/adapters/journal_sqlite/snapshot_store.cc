#include "adapters/journal_sqlite/snapshot_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/file_kind.h"

namespace teson {
namespace {

constexpr std::string_view kTemporary = ".tmp";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// "teson-snapshot 1 xxh3-128 <32 hex digits> <bytes>\n"
std::string head_line(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("teson-snapshot 1 xxh3-128 {:016x}{:016x} {}\n", hash.high64, hash.low64, text.size());
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_error("write " + path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status sync_directory(const std::string& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return errno_error("open " + path);
  if (fsync(directory.get()) != 0) return errno_error("fsync " + path);
  return {};
}

Status write_file(const std::string& path, std::string_view head, std::string_view text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) return errno_error("open " + path);
  if (auto done = write_all(file.get(), head, path); !done) return done;
  if (auto done = write_all(file.get(), text, path); !done) return done;
  if (fsync(file.get()) != 0) return errno_error("fsync " + path);
  return {};
}

Result<std::string> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return errno_error("open " + path);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorKind::kIo, fmt::format("snapshot {} is {}, not a regular file", path, file_kind(info.st_mode)));
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read " + path);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

Result<std::vector<std::string>> names_in(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(opendir(directory.c_str()), closedir);
  if (!handle) return errno_error("open " + directory);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(handle.get())) names.emplace_back(entry->d_name);
  return names;
}

std::optional<uint64_t> number_of(std::string_view name) {
  if (!name.ends_with(".json")) return std::nullopt;
  name.remove_suffix(5);
  uint64_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string SnapshotStore::path(uint64_t seq) const { return fmt::format("{}/{}.json", directory_, seq); }

Status SnapshotStore::prepare() {
  std::lock_guard lock(mutex_);
  if (mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("mkdir " + directory_);
  auto names = names_in(directory_);
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) {
    if (name.ends_with(kTemporary)) unlink((directory_ + "/" + name).c_str());
  }
  return {};
}

Status SnapshotStore::write(uint64_t seq, std::string_view text) {
  std::lock_guard lock(mutex_);
  const std::string temporary = path(seq) + std::string(kTemporary);
  auto done = write_file(temporary, head_line(text), text);
  if (done && rename(temporary.c_str(), path(seq).c_str()) != 0) done = errno_error("rename " + temporary);
  if (!done) {
    unlink(temporary.c_str());
    return done;
  }
  return sync_directory(directory_);
}

void SnapshotStore::keep_only(uint64_t newest, uint64_t older) {
  const auto numbers = list();
  if (!numbers) return;
  for (const uint64_t seq : *numbers) {
    if (seq != newest && seq != older) unlink(path(seq).c_str());
  }
}

Result<std::vector<uint64_t>> SnapshotStore::list() const {
  std::lock_guard lock(mutex_);
  auto names = names_in(directory_);
  if (!names) return std::unexpected(names.error());
  std::vector<uint64_t> numbers;
  for (const std::string& name : *names) {
    if (const auto number = number_of(name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers, std::greater<>());
  return numbers;
}

Result<SnapshotText> SnapshotStore::read(uint64_t seq) const {
  std::lock_guard lock(mutex_);
  auto bytes = read_file(path(seq));
  if (!bytes) return std::unexpected(bytes.error());
  const size_t end = bytes->find('\n');
  const std::string head = end == std::string::npos ? *bytes : bytes->substr(0, end + 1);
  std::string text = end == std::string::npos ? std::string() : bytes->substr(end + 1);
  if (head != head_line(text)) {
    return fail(ErrorKind::kIo, fmt::format("snapshot {} is damaged: its checksum does not match", path(seq)));
  }
  return SnapshotText{seq, std::move(text)};
}

}  // namespace teson
