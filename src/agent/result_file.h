// result.json, which must never be lost: its room on the disk is taken before the program starts, it is written in that
// room, synced, and renamed. Inside the attempt's directory. Single-threaded.
#pragma once

#include "attempt_dir/codec.h"
#include "base/owned_fd.h"
#include "base/result.h"

namespace teson {

class ResultFile {
 public:
  // Takes the room. kUnavailable: the disk is full; try again later, and start nothing before.
  Status reserve();
  bool reserved() const { return static_cast<bool>(file_); }
  // Durable once it returns without error. May be repeated.
  Status publish(const AttemptResult& result);

 private:
  OwnedFd file_;
};

}  // namespace teson
