// A few threads for what blocks (files, the store), so that the server's own threads never do.
//
// Thread: any may submit. At most `capacity` tasks wait: beyond that submit() says no at once, and the caller answers
// that the service is busy. The destructor runs what waits and joins.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace teson::logs {

class WorkerPool {
 public:
  WorkerPool(size_t threads, size_t capacity);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Tasks must not throw. False: refused, the task was not and will not be run.
  [[nodiscard]] bool submit(std::function<void()> task);

 private:
  void work();

  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace teson::logs
