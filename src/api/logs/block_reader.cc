#include "api/logs/block_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file_kind.h"

namespace teson::logs {
namespace {

// Enough for the widest backward search (line_file.h) plus the block being walked.
constexpr size_t kCachedBlocks = 8;

// The job can put anything in place of its files. Asking again does not help, so it is no passing failure.
std::unexpected<Error> replaced_by(const std::string& path, std::string_view kind) {
  return fail(ErrorKind::kDenied,
              fmt::format("The log cannot be read: {} is {}, put there in place of the regular file "
                          "that the attempt began with. Nothing is read from such a file.",
                          path, kind));
}

}  // namespace

Result<BlockReader> BlockReader::open(const std::string& path, uint64_t limit) {
  BlockReader reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW), path);
  if (reader.fd_ < 0) {
    if (errno == ENOENT) return reader;
    // A link (ELOOP) or a socket (ENXIO) cannot even be opened.
    if (errno == ELOOP || errno == ENXIO) return replaced_by(path, file_kind_at(path));
    return errno_error(fmt::format("open {}", path));
  }
  struct stat status{};
  if (::fstat(reader.fd_, &status) != 0) return errno_error(fmt::format("stat {}", path));
  if (!S_ISREG(status.st_mode)) return replaced_by(path, file_kind(status.st_mode));
  reader.size_ = std::min(static_cast<uint64_t>(status.st_size), limit);
  reader.modified_ = Instant{status.st_mtim.tv_sec * 1'000'000 + status.st_mtim.tv_nsec / 1'000};
  return reader;
}

BlockReader::BlockReader(BlockReader&& other) noexcept { *this = std::move(other); }

BlockReader& BlockReader::operator=(BlockReader&& other) noexcept {
  std::swap(fd_, other.fd_);
  path_ = std::move(other.path_);
  size_ = other.size_;
  modified_ = other.modified_;
  uses_ = other.uses_;
  bytes_read_ = other.bytes_read_;
  blocks_ = std::move(other.blocks_);
  failure_ = std::move(other.failure_);
  return *this;
}

BlockReader::~BlockReader() {
  if (fd_ >= 0) ::close(fd_);
}

void BlockReader::load(Block& block, uint64_t index) {
  const uint64_t begin = index * kBlockBytes;
  const auto wanted = static_cast<size_t>(std::min(kBlockBytes, size_ - begin));
  block.index = index;
  block.bytes.assign(wanted, '\0');
  size_t have = 0;
  while (have < wanted && !failure_) {
    const ssize_t n = ::pread(fd_, block.bytes.data() + have, wanted - have, static_cast<off_t>(begin + have));
    if (n > 0) {
      have += static_cast<size_t>(n);
    } else if (n == 0) {
      failure_ = Error{ErrorKind::kUnavailable, fmt::format("{} became shorter while it was read: ask again", path_)};
    } else if (errno != EINTR) {
      failure_ = make_errno_error(fmt::format("read {}", path_), errno);
    }
  }
  bytes_read_ += have;
}

const std::string& BlockReader::block(uint64_t index) {
  ++uses_;
  for (Block& known : blocks_) {
    if (known.index == index) {
      known.last_use = uses_;
      return known.bytes;
    }
  }
  if (blocks_.size() < kCachedBlocks)
    blocks_.emplace_back();
  else
    std::ranges::iter_swap(std::ranges::min_element(blocks_, {}, &Block::last_use), blocks_.end() - 1);
  Block& chosen = blocks_.back();
  load(chosen, index);
  chosen.last_use = uses_;
  return chosen.bytes;
}

char BlockReader::byte_at(uint64_t offset) { return block(offset / kBlockBytes)[offset % kBlockBytes]; }

std::string BlockReader::read(uint64_t begin, uint64_t end) {
  std::string bytes;
  end = std::min(end, size_);
  if (begin >= end) return bytes;
  bytes.reserve(static_cast<size_t>(end - begin));
  while (begin < end) {
    const std::string& source = block(begin / kBlockBytes);
    const auto from = static_cast<size_t>(begin % kBlockBytes);
    const auto count = static_cast<size_t>(std::min<uint64_t>(source.size() - from, end - begin));
    bytes.append(source, from, count);
    begin += count;
  }
  return bytes;
}

std::optional<uint64_t> BlockReader::find_newline(uint64_t begin, uint64_t end) {
  end = std::min(end, size_);
  while (begin < end) {
    const std::string& source = block(begin / kBlockBytes);
    const auto from = static_cast<size_t>(begin % kBlockBytes);
    const auto count = static_cast<size_t>(std::min<uint64_t>(source.size() - from, end - begin));
    if (const void* hit = ::memchr(source.data() + from, '\n', count))
      return begin + static_cast<uint64_t>(static_cast<const char*>(hit) - (source.data() + from));
    begin += count;
  }
  return std::nullopt;
}

std::optional<uint64_t> BlockReader::rfind_newline(uint64_t begin, uint64_t end) {
  end = std::min(end, size_);
  while (begin < end) {
    const uint64_t start = std::max(begin, (end - 1) / kBlockBytes * kBlockBytes);
    const std::string& source = block((end - 1) / kBlockBytes);
    const char* from = source.data() + start % kBlockBytes;
    if (const void* hit = ::memrchr(from, '\n', static_cast<size_t>(end - start)))
      return start + static_cast<uint64_t>(static_cast<const char*>(hit) - from);
    end = start;
  }
  return std::nullopt;
}

}  // namespace teson::logs
