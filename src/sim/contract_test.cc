// The simulated journal, history and launcher keep the same promises as the real ones.
#include "contracts/history_contract.h"
#include "contracts/journal_contract.h"
#include "contracts/launcher_contract.h"
#include "sim/sim_journal.h"
#include "sim/sim_launcher.h"

namespace teson {
namespace {

struct Quiet {
  sim::Timeline timeline{Instant{1'700'000'000'000'000}};
  sim::Faults faults;
  sim::Sabotage sabotage;
  sim::Coverage coverage;
  sim::CrashPoints crash_points{Prng(1), faults, coverage};
};

class JournalSubject {
 public:
  JournalSubject() { journal_.through_json(true); }
  Journal& journal() { return journal_; }
  const History& history() { return journal_; }
  void restart() {}  // it outlives the control plane by nature

 private:
  Quiet quiet_;
  sim::SimJournal journal_{
      Site{}, Prng(1), {quiet_.timeline, quiet_.faults, quiet_.sabotage, quiet_.crash_points, quiet_.coverage}};
};

class LauncherSubject final : public LauncherFixture {
 public:
  LauncherSubject() {
    launcher_.plan_with([this](const LaunchOrder& order) { return plan_for(kinds_.at(order.id)); });
    launcher_.process_started();
  }
  Launcher& launcher() override { return launcher_; }
  LaunchOrder order(ProgramKind kind) override {
    LaunchOrder out;
    out.id = {JobId{Uuid{7, ++orders_}}, 1};
    kinds_[out.id] = kind;
    return out;
  }
  std::vector<AttemptReport> reports() override { return reports_; }
  bool run_until(const std::function<bool()>& condition) override {
    const Instant deadline = quiet_.timeline.now() + Duration::seconds(60);
    while (!condition()) {
      if (quiet_.timeline.empty() || quiet_.timeline.next_at() > deadline) return false;
      quiet_.timeline.run_next();
    }
    return true;
  }
  void restart_launcher() override {
    launcher_.process_crashed();
    launcher_.process_started();
  }
  void kill_agent(const AttemptId& id) override { launcher_.kill_agent(id); }

 private:
  static sim::SimLauncher::Plan plan_for(ProgramKind kind) {
    sim::SimLauncher::Plan plan;
    const bool long_one = kind == ProgramKind::kRunsForAnHour || kind == ProgramKind::kIgnoresTerm;
    plan.run = long_one ? Duration::seconds(3600) : Duration::millis(5);
    plan.exit_code = kind == ProgramKind::kFailsWith3 ? 3 : 0;
    plan.exec_fails = kind == ProgramKind::kAbsent;
    plan.ignores_sigterm = kind == ProgramKind::kIgnoresTerm;
    return plan;
  }

  Quiet quiet_;
  std::vector<AttemptReport> reports_;
  std::map<AttemptId, ProgramKind> kinds_;
  uint64_t orders_ = 0;
  sim::SimLauncher launcher_{[this](AttemptReport report) { reports_.push_back(std::move(report)); },
                             Prng(1),
                             {quiet_.timeline, quiet_.faults, quiet_.sabotage, quiet_.crash_points, quiet_.coverage}};
};

}  // namespace

namespace contract {
INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, JournalContract, JournalSubject);
INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, HistoryContract, JournalSubject);
}  // namespace contract

INSTANTIATE_TEST_SUITE_P(Simulated, LauncherContract,
                         testing::Values(LauncherFactory{"simulated",
                                                         [] { return std::make_unique<LauncherSubject>(); }}));

}  // namespace teson
