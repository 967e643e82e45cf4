// A control loop on a journal, archive and launcher in memory, with the Batch face over it: for tests of the face.
//
// The launcher runs nothing: a test says what became of an attempt through report(). Thread: any but where said.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/batch/batch_api.h"
#include "ports/journal.h"
#include "ports/launcher.h"

namespace teson::batch {

class MemoryJournal final : public Journal, public History {
 public:
  Status append(std::span<const Fact> facts, std::span<const Job> finished) override;
  Result<JournalContents> load() override;
  Result<std::vector<Job>> find(std::span<const JobId> ids) const override;
  Result<std::vector<Job>> list(const HistoryQuery& query) const override;
  Result<std::optional<LogStreamRecord>> find_stream(const std::string& name) const override;
  Result<std::vector<LogStreamRecord>> list_streams(const std::string& prefix, const std::string& after,
                                                    int limit) const override;
  // While set, append() answers kUnavailable.
  void refuse(bool on);

 private:
  mutable std::mutex mutex_;
  bool refuse_ = false;
  std::vector<Fact> facts_;
  std::map<uint64_t, Job, std::greater<>> finished_;
};

class IdleLauncher final : public Launcher {
 public:
  void launch(const LaunchOrder& order) override;
  void stop(const AttemptId& id, Duration grace) override;
  AttemptFinding settle(const AttemptId&) override { return AttemptUnknown{}; }
  void forget(std::span<const AttemptId>) override {}

  // Waits, with a deadline, until that many orders have come; returns them all.
  std::vector<LaunchOrder> orders(size_t count) const;

 private:
  mutable std::mutex mutex_;
  std::vector<LaunchOrder> orders_;
};

// The clock of a test: goes on by a millisecond a look.
class StepClock final : public Clock {
 public:
  Instant now() const override;
  Instant wall() const override { return now(); }

 private:
  mutable std::mutex mutex_;
  mutable Instant now_ = Instant::from_millis(1'700'000'000'000);
};

struct Answer {
  int status = 0;
  Json body;
  std::string error_type;  // x-amzn-errortype
};

class BatchWorld {
 public:
  BatchWorld();
  ~BatchWorld();

  Answer post(const std::string& operation, const Json& body) { return post_text(operation, body.dump()); }
  Answer post_text(const std::string& operation, const std::string& body);
  Answer send(const std::string& method, const std::string& path, const std::string& query, const std::string& body);

  // An environment "here" of the host (4 vCPU, 8192 MiB), a queue "main" on it, a definition "train:1" (1 vCPU, 512
  // MiB).
  void set_up();
  // Who asks from now on; at first the first user, an admin.
  void act_as(Caller caller) { caller_ = std::move(caller); }
  std::string submit(Json changes = Json::object());
  Json describe(const std::string& job_id);

  void report_started(const AttemptId& id);
  void report_exit(const AttemptId& id, int exit_code);

  MemoryJournal journal;
  IdleLauncher launcher;

 private:
  StepClock clock_;
  Caller caller_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<BatchApi> api_;
};

}  // namespace teson::batch
