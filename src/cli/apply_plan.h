// From documents to what must be done on a server, and doing it.
#pragma once

#include <string>
#include <vector>

#include "cli/apply_diff.h"
#include "cli/client.h"

namespace teson::cli {

struct ApplyStep {
  enum class Action { kCreate, kChange, kUnchanged };

  ManifestDocument document;
  Action action = Action::kUnchanged;
  std::vector<FieldChange> changes;
  std::string id;  // ARN, of a job its id: of what there is, else of what was made
  Json request;    // of Create*, Register*, Submit* or Update*; empty: none
  Json tags;       // to set, where it changes; empty: none
  bool done = false;
};

// Reads the server and changes nothing. A job counts as there if one of its queue, name and content was submitted by
// `apply` before, whatever became of it: it carries the content's digest in the tag "teson-apply".
Outcome<std::vector<ApplyStep>> plan_apply(Client& client, std::vector<ManifestDocument> documents);

// Sets `done`, and `id` of what was made. Whatever a failed one has done already, a new plan finds.
Outcome<void> carry_out(Client& client, ApplyStep& step);

}  // namespace teson::cli
