// teson-sim: many seeded runs of the fault simulator, with figures; on a broken invariant, how to see it again.
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "sim/simulation.h"

namespace {

using teson::sim::Coverage;
using teson::sim::Met;
using teson::sim::Options;
using teson::sim::Report;

constexpr const char* kUsage =
    "teson-sim [--seeds 100] [--first-seed 1] [--steps 1000000]   job-steps of all seeds together\n"
    "teson-sim --seed N [--steps 10000] [--verbose]                one seed; --verbose prints every durable fact\n"
    "          [--crash-at K]           no other fault, but the process dies at crash point K\n"
    "          [--crash-everywhere]     ... at each crash point of the run in turn\n";

struct Arguments {
  uint64_t seeds = 100;
  uint64_t first_seed = 1;
  uint64_t steps = 0;
  uint64_t seed = 0;
  uint64_t crash_at = 0;
  bool crash_everywhere = false;
  bool verbose = false;
};

// A broken invariant inside the core aborts: the command that replays it must be known by then.
char replay_line[256];

void print_replay(int) {
  const auto ignored = write(STDERR_FILENO, replay_line, std::strlen(replay_line));
  static_cast<void>(ignored);
  _exit(1);
}

void remember_replay(const std::string& command) {
  const std::string line = fmt::format("replay with: {}\n", command);
  line.copy(replay_line, sizeof replay_line - 1);
  replay_line[std::min(line.size(), sizeof replay_line - 1)] = '\0';
}

bool parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--verbose") {
      out.verbose = true;
      continue;
    }
    if (name == "--crash-everywhere") {
      out.crash_everywhere = true;
      continue;
    }
    uint64_t* const target = name == "--seeds"        ? &out.seeds
                             : name == "--first-seed" ? &out.first_seed
                             : name == "--steps"      ? &out.steps
                             : name == "--seed"       ? &out.seed
                             : name == "--crash-at"   ? &out.crash_at
                                                      : nullptr;
    if (!target || i + 1 == argc) return false;
    const std::string_view value = argv[++i];
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *target);
    if (error != std::errc{} || end != value.data() + value.size()) return false;
  }
  return out.seeds > 0;
}

std::string command_for(const Options& options) {
  std::string out = fmt::format("teson-sim --seed {} --steps {}", options.seed, options.job_steps);
  if (options.crash_at > 0) out += fmt::format(" --crash-at {}", options.crash_at);
  return out + " --verbose";
}

Report run_one(const Arguments& arguments, Options options) {
  remember_replay(command_for(options));
  if (!arguments.crash_everywhere) return teson::sim::simulate(options);
  uint64_t points = 0;
  return teson::sim::simulate_crash_at_every_point(options, points);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  spdlog::set_level(spdlog::level::off);  // the controller's complaints about the faults are expected
  signal(SIGABRT, print_replay);
  const bool single = arguments.seed > 0;
  if (single) arguments.seeds = 1;
  const uint64_t total = arguments.steps > 0 ? arguments.steps : single ? 10'000 : 1'000'000;

  Coverage coverage;
  uint64_t job_steps = 0, jobs = 0;
  double seconds = 0;
  for (uint64_t i = 0; i < arguments.seeds; ++i) {
    Options options;
    options.seed = single ? arguments.seed : arguments.first_seed + i;
    options.job_steps = std::max<uint64_t>(1, total / arguments.seeds);
    options.crash_at = arguments.crash_at;
    options.faults = arguments.crash_at == 0 && !arguments.crash_everywhere;
    options.print_facts = arguments.verbose;
    const std::clock_t began = std::clock();
    const Report report = run_one(arguments, options);
    const double took = static_cast<double>(std::clock() - began + 1) / CLOCKS_PER_SEC;
    seconds += took;
    job_steps += report.job_steps;
    jobs += report.jobs;
    coverage.add(report.coverage);
    fmt::print(
        "seed {:>6}: {:>8} job-steps, {:>6} jobs, {:>7} loop steps, {:>4} crashes, {:>9.0f} job-steps/s, {:016x}\n",
        options.seed, report.job_steps, report.jobs, report.steps, report.coverage.count(Met::kCrash),
        static_cast<double>(report.job_steps) / took, report.hash);
    std::fflush(stdout);
    if (report.broken) {
      if (arguments.crash_everywhere) options.crash_at = report.crash_at;
      fmt::print("\nBROKEN in seed {}: {}\nreplay with: {}\n", options.seed, *report.broken, command_for(options));
      return 1;
    }
  }
  fmt::print(
      "\nmet:\n{}\n{} job-steps of {} jobs over {} seeds in {:.1f} s of one CPU: {:.0f} job-steps/s, no broken "
      "invariant\n",
      coverage.table(), job_steps, jobs, arguments.seeds, seconds, static_cast<double>(job_steps) / seconds);
  return 0;
}
