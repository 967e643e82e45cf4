// What differs between a document and what the server has. Pure.
//
// Fields that the document leaves out stay as they are, but for what AWS replaces as a whole: a job definition, and a
// policy's fairsharePolicy.
#pragma once

#include <vector>

#include "cli/manifest.h"

namespace teson::cli {

struct FieldChange {
  std::string field;  // "computeResources.maxvCpus"
  Json from;          // null: it was not there
  Json to;            // null: it will not be there
};

// `current`: how Describe* shows it; null where there is none, and then all of the document is new.
std::vector<FieldChange> differences(const ManifestDocument& document, const Json& current);

// The Update* request that makes these changes; an empty object where only tags change. `arn`: of what there is. An
// error names what cannot be changed.
Result<Json> update_request(const ManifestDocument& document, const std::vector<FieldChange>& changes,
                            const std::string& arn);
// The tags to set; an empty object for none. Tags that the document does not name stay.
Json changed_tags(const ManifestDocument& document, const std::vector<FieldChange>& changes);

}  // namespace teson::cli
