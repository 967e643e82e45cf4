#include "api/metrics/metrics.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

namespace teson::metrics {
namespace {

constexpr std::array<const char*, Activity::kCauses> kCauseNames = {"exited",    "out_of_memory", "stopped",
                                                                    "timed_out", "lost",          "launch_failed"};

double vcpus(int64_t milli) { return static_cast<double>(milli) / 1000; }
double bytes(int64_t mib) { return static_cast<double>(mib) * (1 << 20); }
uint64_t whole(size_t count) { return static_cast<uint64_t>(count); }

struct Live {
  uint64_t starting = 0, running = 0;
};

std::map<std::string, Live> live_by_queue(const State& state) {
  std::map<std::string, Live> out;
  for (const auto& [name, queue] : state.queues()) out.emplace(name, Live{});
  for (const JobId& holder : state.holders()) {
    // With those that wait for its place, which are starting.
    for (std::optional<JobId> id = holder; id; id = state.follower_of(*id)) {
      const Job& job = *state.job(*id);
      Live& live = out[job.spec.queue];
      ++(std::holds_alternative<job_state::Running>(job.state) ? live.running : live.starting);
    }
  }
  return out;
}

void put_queues(const State& state, Exposition& out) {
  const auto live = live_by_queue(state);
  out.family("teson_jobs", "gauge",
             "Live jobs by status. An array is PENDING; its begun children count, and those that may run count as one "
             "RUNNABLE.");
  for (const auto& [name, queue] : state.queues()) {
    out.sample({{"queue", name}, {"status", "PENDING"}}, whole(queue.pending));
    out.sample({{"queue", name}, {"status", "RUNNABLE"}}, whole(queue.ready.size() + queue.held.size()));
    out.sample({{"queue", name}, {"status", "STARTING"}}, live.at(name).starting);
    out.sample({{"queue", name}, {"status", "RUNNING"}}, live.at(name).running);
  }
  out.family("teson_queue_live_jobs", "gauge", "Live jobs of any status, arrays and their begun children among them.");
  for (const auto& [name, queue] : state.queues()) out.sample({{"queue", name}}, whole(queue.jobs.size()));
  out.family("teson_queue_unplaceable_jobs", "gauge", "Runnable jobs that fit no compute environment as things are.");
  for (const auto& [name, queue] : state.queues()) out.sample({{"queue", name}}, whole(queue.held.size()));
}

void put_host(const State& state, Exposition& out) {
  const Resources& all = state.site().host;
  const Resources used = state.host_used();
  const auto pair = [&](const char* name, const char* help, double has, double holds) {
    out.family(name, "gauge", help);
    out.sample({{"of", "host"}}, has);
    out.sample({{"of", "jobs"}}, holds);
  };
  pair("teson_vcpus", "vCPUs of the host that jobs may use, and that they hold.", vcpus(all.milli_vcpus),
       vcpus(used.milli_vcpus));
  pair("teson_memory_bytes", "Memory of the host that jobs may use, and that they hold.", bytes(all.memory_mib),
       bytes(used.memory_mib));
  pair("teson_gpus", "GPUs of the host that jobs may use, and that they hold.", static_cast<double>(all.gpus),
       static_cast<double>(used.gpus));
  out.family("teson_instances", "gauge", "Instances that a compute environment has now.");
  for (const auto& [name, environment] : state.environments()) {
    out.sample({{"environment", name}}, whole(state.instances_of(name).size()));
  }
  out.family("teson_instance_vcpus", "gauge", "vCPUs of the instances that a compute environment has now.");
  for (const auto& [name, environment] : state.environments()) {
    out.sample({{"environment", name}}, vcpus(state.instance_vcpus_of(name)));
  }
}

void put_activity(const Activity& activity, Exposition& out) {
  const auto counter = [&](const char* name, const char* help, uint64_t value) {
    out.family(name, "counter", help);
    out.sample({}, value);
  };
  counter("teson_jobs_submitted_total", "Jobs accepted since the server started.", activity.jobs_submitted);
  counter("teson_attempts_started_total", "Attempts that began to run since the server started.",
          activity.attempts_started);
  out.family("teson_attempts_ended_total", "counter", "Attempts that ended since the server started, by cause.");
  for (size_t i = 0; i < kCauseNames.size(); ++i) out.sample({{"cause", kCauseNames[i]}}, activity.attempts_ended[i]);
  counter("teson_facts_total", "Facts committed to the journal since the server started.", activity.facts);
}

uint64_t file_size(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

// [proc(5), /proc/pid/statm]: the second number is resident pages.
uint64_t resident_bytes() {
  unsigned long total = 0, resident = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"), std::fclose);
  if (!file || std::fscanf(file.get(), "%lu %lu", &total, &resident) != 2) return 0;
  return uint64_t{resident} * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t open_files() {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), ::closedir);
  if (!directory) return 0;
  uint64_t count = 0;
  while (const dirent* entry = ::readdir(directory.get())) count += entry->d_name[0] != '.' ? 1 : 0;
  return count > 0 ? count - 1 : 0;  // without the one that looks
}

}  // namespace

void put_state(const Controller& controller, Exposition& out) {
  out.family("teson_up", "gauge", "1 while jobs are started, 0 while something keeps all from starting.");
  out.sample({}, uint64_t{controller.trouble().empty() ? 1U : 0U});
  put_queues(controller.state(), out);
  put_host(controller.state(), out);
  put_activity(controller.activity(), out);
}

void put_process(const std::string& journal, Exposition& out) {
  out.family("teson_journal_bytes", "gauge", "Size of the journal and of what is not yet merged into it.");
  out.sample({{"file", "teson.db"}}, file_size(journal));
  out.sample({{"file", "teson.db-wal"}}, file_size(journal + "-wal"));
  out.family("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.");
  out.sample({}, resident_bytes());
  out.family("process_open_fds", "gauge", "Number of open file descriptors.");
  out.sample({}, open_files());
}

MetricsApi::MetricsApi(Loop& loop, http::Handler& router, std::string journal, const CommitTimes& commit_times,
                       std::string version)
    : loop_(loop),
      requests_(router),
      journal_(std::move(journal)),
      commit_times_(commit_times),
      version_(std::move(version)) {}

void MetricsApi::put_requests(Exposition& out) const {
  out.family("teson_http_requests_total", "counter", "Answers by what was asked for and status class.");
  for (size_t family = 0; family < RequestCounts::kFamilies.size(); ++family) {
    for (size_t c = 0; c < RequestCounts::kClasses.size(); ++c) {
      out.sample({{"family", RequestCounts::kFamilies[family]}, {"status", RequestCounts::kClasses[c]}},
                 requests_.count(family, c));
    }
  }
  out.family("teson_build_info", "gauge", "The program's version.");
  out.sample({{"version", version_}}, uint64_t{1});
}

void MetricsApi::handle(http::Request, http::Reply reply) {
  auto out = std::make_shared<Exposition>();
  put_process(journal_, *out);
  put_requests(*out);
  loop_.ask([this, out, reply = std::move(reply)](const Controller& controller) {
    put_state(controller, *out);
    out->family("teson_commit_seconds", "histogram", "How long a commit to the journal took.");
    out->histogram(CommitTimes::kBounds, commit_times_.counts, commit_times_.seconds);
    http::Response response;
    response.headers.add("content-type", Exposition::kContentType);
    response.body = out->text();
    reply(std::move(response));
  });
}

}  // namespace teson::metrics
