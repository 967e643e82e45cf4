// Jobs as the server describes them, and finding them by a part of their id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/client.h"

namespace teson::cli {

struct AttemptView {
  int number = 0;
  bool live = false;
  std::optional<Instant> started;
  std::optional<Instant> stopped;
  std::optional<int64_t> exit_code;
  std::string cause;       // why it ended: attempts[].statusReason
  std::string reason;      // about the program: attempts[].container.reason
  std::string log_stream;  // empty: it never ran
};

// The fields of a JobDetail that people ask for; absent ones are empty.
struct JobView {
  std::string id;
  std::string name;
  std::string queue;       // name, not ARN
  std::string owner;       // the user who submitted it
  std::string definition;  // name:revision
  std::string status;
  std::string status_reason;
  std::string image;
  std::vector<std::string> command;
  std::optional<Instant> created;
  std::optional<Instant> started;
  std::optional<Instant> stopped;
  std::optional<int64_t> exit_code;  // the last attempt's
  std::string reason;
  std::vector<AttemptView> attempts;  // oldest first, a live one last
};

bool is_finished_status(const std::string& status);
bool is_status(const std::string& status);
JobView job_view(const Json& detail);
// SUCCEEDED: 0. FAILED: its exit code, or 1 where there is none or it was 0 (a stopped job may exit 0).
int exit_code_of(const JobView& job);
// Of a FAILED job, shortest first: "exit code 3", "exit code 137: OutOfMemoryError: ...", "Stopped by its user".
std::string why_failed(const JobView& job);
// "name (12ab34cd)".
std::string job_label(const JobView& job);
// How long it ran, or has been running until `at`.
std::optional<Duration> run_time(const JobView& job, Instant at);

Outcome<std::vector<std::string>> queue_names(Client& client);
// Summaries, newest first, at most `limit`. Without a status, jobs of every status.
Outcome<std::vector<Json>> list_jobs(Client& client, const std::string& queue, const std::optional<std::string>& status,
                                     size_t limit);
// JobDetails in the order of `ids`; those that the server does not know are left out.
Outcome<std::vector<Json>> describe_jobs(Client& client, const std::vector<std::string>& ids);
// Usage failure when there is no such job.
Outcome<Json> describe_job(Client& client, const std::string& id);

// A whole id is taken as it is; a prefix is looked up among all jobs. All of `given` with one look. Each may have the
// index of a child: "1f3c:17".
Outcome<std::vector<std::string>> resolve_job_ids(Client& client, const std::vector<std::string>& given);
Outcome<std::string> resolve_job_id(Client& client, const std::string& given);

}  // namespace teson::cli
