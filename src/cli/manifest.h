// What `teson apply` reads: documents with a `kind` and, as the rest, an AWS Batch request in its own JSON names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/json_access.h"
#include "cli/yaml_tree.h"

namespace teson::cli {

// In the order in which they need each other.
enum class ManifestKind { kPolicy, kEnvironment, kQueue, kDefinition, kJob };

struct ManifestDocument {
  ManifestKind kind = ManifestKind::kJob;
  std::string name;
  Json request;
  std::string file;
  Place place;

  // "JobQueue/default".
  std::string label() const;
};

struct ManifestFile {
  std::string name;
  std::string text;
};

std::string_view kind_name(ManifestKind kind);
// The request's member that holds the name.
const char* name_member(ManifestKind kind);

// All documents of all files, in the order of their kinds, else as given. With mistakes: every one that was found, the
// first of each document, a line each.
Result<std::vector<ManifestDocument>> read_manifest(const std::vector<ManifestFile>& files);

}  // namespace teson::cli
