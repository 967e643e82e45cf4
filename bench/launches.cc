// What a small task costs beside itself: launches COUNT attempts of /bin/true through the local launcher, WIDTH at a
// time, and prints wall time and CPU per attempt of this process and of all that it started. A measurement, not a test.
#include <sys/resource.h>
#include <time.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>

#include "adapters/launch_local/local_launcher.h"
#include "agent/image.h"

namespace {

using namespace teson;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct Cpu {
  double user = 0;
  double system = 0;
  double total() const { return user + system; }
};

Cpu cpu_of(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

double monotonic_seconds() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class Harness {
 public:
  void report(const AttemptReport& report) {
    if (std::holds_alternative<AttemptStartedReport>(report.body)) return;
    const auto* end = std::get_if<AttemptEndedReport>(&report.body);
    const std::lock_guard guard(mutex_);
    ++ended_;
    if (!end || end->end.exit_code != 0) ++failed_;
    changed_.notify_all();
  }

  void run(Launcher& launcher, int count, int width, bool limited) {
    for (int i = 0; i < count; ++i) {
      {
        std::unique_lock guard(mutex_);
        changed_.wait(guard, [&] { return i - ended_ < width; });
      }
      LaunchOrder order;
      order.id = {JobId{Uuid::from_random_bits(static_cast<uint64_t>(::getpid()), static_cast<uint64_t>(i + 1))}, 1};
      order.job_name = "launches";
      order.image = "host";
      order.command = {"/bin/true"};
      if (limited) order.limits = {.milli_vcpus = 1000, .memory_mib = 256, .gpus = 0};
      launcher.launch(order);
    }
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [&] { return ended_ == count; });
  }

  int failed() const { return failed_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int ended_ = 0;
  int failed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: launches FOLDER COUNT WIDTH [nolimits]\n");
    return 2;
  }
  const int count = std::atoi(argv[2]);
  std::string data = std::string(argv[1]) + "/teson-launches-XXXXXX";
  if (count < 1 || ::mkdtemp(data.data()) == nullptr) return 2;
  Harness harness;
  LocalLauncherOptions options;
  options.agent_image = agent_image();
  auto launcher = LocalLauncher::open(data, [&](AttemptReport report) { harness.report(report); }, options);
  if (!launcher) {
    std::fprintf(stderr, "%s\n", launcher.error().message.c_str());
    return 1;
  }
  const double began = monotonic_seconds();
  const Cpu before = cpu_of(RUSAGE_SELF);
  harness.run(**launcher, count, std::max(std::atoi(argv[3]), 1), argc < 5);
  const double wall = monotonic_seconds() - began;
  const Cpu self = cpu_of(RUSAGE_SELF);
  launcher->reset();  // reaps what is left
  const Cpu others = cpu_of(RUSAGE_CHILDREN);
  const double per = 1000.0 / count;
  std::printf(
      "%d attempts, %d failed: wall %.2f ms, CPU %.2f ms each (launcher %.2f, below it user %.2f system %.2f)\n", count,
      harness.failed(), wall * per, (self.total() - before.total() + others.total()) * per,
      (self.total() - before.total()) * per, others.user * per, others.system * per);
  std::error_code ignored;
  std::filesystem::remove_all(data, ignored);
  return harness.failed() == 0 ? 0 : 1;
}
