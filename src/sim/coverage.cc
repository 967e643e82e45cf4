#include "sim/coverage.h"

#include <fmt/format.h>

namespace teson::sim {
namespace {

constexpr std::array<const char*, static_cast<size_t>(Met::kCount)> kNames = {
    "crash",
    "crash before a commit",
    "crash after a commit, before it returned",
    "crash among the answers",
    "crash among the effects",
    "crash in recovery",
    "host rebooted",
    "clock set back",
    "clock set forward",
    "journal refused (no space)",
    "journal failed, nothing kept",
    "journal failed, though kept",
    "journal unreadable",
    "snapshot taken",
    "snapshot and facts through JSON",
    "launch lost",
    "launch delayed",
    "launch that outlived a crash",
    "launch repeated",
    "launch waits behind another",
    "stop lost",
    "report lost",
    "report doubled",
    "report delayed",
    "report repeated by the sweep",
    "agent died",
    "orphan killed",
    "program could not be started",
    "out of memory",
    "timed out",
    "SIGTERM ignored",
    "starts held",
    "command accepted",
    "command rejected",
    "command refused as unavailable",
    "command never answered",
    "unanswered submit found live",
    "unanswered submit found ended",
    "unanswered submit sent again",
    "submit told of unknown dependencies",
    "environment put",
    "environment deleted",
    "queue put",
    "queue deleted",
    "definition put",
    "job submitted",
    "job tagged",
    "job ready",
    "instance started",
    "instance ended",
    "attempt placed",
    "attempt started",
    "attempt ended: retried",
    "attempt ended: job succeeded",
    "attempt ended: job failed",
    "stop requested",
    "job failed without an attempt",
    "children failed without an attempt",
    "scheduling policy put",
    "scheduling policy deleted",
    "consumable resource put",
    "consumable resource deleted",
    "instance interrupted by a user",
    "instance interrupted for a job",
    "settled: never launched",
    "settled: alive",
    "settled: ended",
    "settled: lost",
    "held with a reason at the end",
};

}  // namespace

const char* name_of(Met met) { return kNames[static_cast<size_t>(met)]; }

void Coverage::add(const Coverage& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::string Coverage::table() const {
  std::string out;
  for (size_t i = 0; i < counts_.size(); ++i) {
    out += fmt::format("  {:>10}  {}{}\n", counts_[i], kNames[i], counts_[i] == 0 ? "   <- never met" : "");
  }
  return out;
}

std::vector<Met> Coverage::never() const {
  std::vector<Met> out;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) out.push_back(static_cast<Met>(i));
  }
  return out;
}

}  // namespace teson::sim
