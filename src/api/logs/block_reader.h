// Random access to a growing file through a few cached blocks, so that a search for line ends costs what it looks at.
//
// Thread: one. The size is fixed when opened: later growth is not seen. Failure is sticky: once a read failed, bytes
// come as NUL and failure() says why; callers look once at the end instead of at each byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace teson::logs {

class BlockReader {
 public:
  static constexpr uint64_t kBlockBytes = 64 * 1024;
  static constexpr uint64_t kEverything = ~uint64_t{0};

  // An absent file is an empty one: the job has not written yet, or its files were pruned. What lies beyond `limit`
  // is not looked at. kDenied: something else than a regular file lies there; it is never waited for nor followed.
  static Result<BlockReader> open(const std::string& path, uint64_t limit = kEverything);
  BlockReader(BlockReader&& other) noexcept;
  BlockReader& operator=(BlockReader&& other) noexcept;
  ~BlockReader();

  uint64_t size() const { return size_; }
  // When the file was last written to; the epoch if it is absent.
  Instant modified() const { return modified_; }
  const std::optional<Error>& failure() const { return failure_; }
  uint64_t bytes_read() const { return bytes_read_; }

  // `offset` must be below size().
  char byte_at(uint64_t offset);
  std::string read(uint64_t begin, uint64_t end);
  // First / last '\n' in [begin, end); end is cut to size().
  std::optional<uint64_t> find_newline(uint64_t begin, uint64_t end);
  std::optional<uint64_t> rfind_newline(uint64_t begin, uint64_t end);

 private:
  struct Block {
    uint64_t index = 0;
    uint64_t last_use = 0;
    std::string bytes;
  };

  BlockReader(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  const std::string& block(uint64_t index);
  void load(Block& block, uint64_t index);

  int fd_ = -1;
  std::string path_;
  uint64_t size_ = 0;
  Instant modified_;
  uint64_t uses_ = 0;
  uint64_t bytes_read_ = 0;
  std::vector<Block> blocks_;
  std::optional<Error> failure_;
};

}  // namespace teson::logs
