// A few threads for what must not run on the loop's thread or on a network thread: reads of the history, large answers.
//
// Thread: post() from any thread. Tasks must not throw. The destructor runs what is queued, then ends the threads.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace teson::batch {

class Worker {
 public:
  explicit Worker(int threads);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> task);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace teson::batch
