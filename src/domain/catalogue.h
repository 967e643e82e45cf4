// The instance types that compute environments may name, with sizes and prices. Pure: text in, values out.
//
// The built-in text is data/instance_catalogue.csv (data/README.md has its origin); a user may replace the whole file.
// GPUs are counted as AWS Batch counts them: NVIDIA ones, not Inferentia, Trainium or Radeon.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/environment.h"

namespace teson {

struct CatalogueEntry {
  InstanceType type;         // an unknown spot price is the on-demand price, an unknown on-demand price 0
  bool price_known = false;  // on-demand
  bool spot_price_known = false;
  std::string accelerator;  // "A100", "trainium"; empty: none
  int accelerators = 0;
  std::string interruption_band;  // "<5%" ... ">20%"; empty: not known
  std::string source;             // where the prices come from, and when
};

class InstanceCatalogue {
 public:
  // Errors name the line and the value: a row of another length, a number that is none, a type given twice.
  static Result<InstanceCatalogue> parse(std::string_view csv);
  // The text that was embedded at build time. A defect in it is a broken build and aborts.
  static InstanceCatalogue builtin();

  const CatalogueEntry* find(const std::string& type) const;
  // Every type of "m5", smallest first; empty if there is no such family.
  std::vector<const CatalogueEntry*> family(std::string_view name) const;
  // Up to `count` types and families whose names are the fewest edits away, nearest first.
  std::vector<std::string> near(std::string_view name, size_t count) const;
  size_t size() const { return entries_.size(); }

 private:
  std::map<std::string, CatalogueEntry> entries_;
};

// By vCPUs, memory, GPUs, then name: the order that ComputeEnvironment::instance_types must have.
bool smaller_type(const InstanceType& a, const InstanceType& b);

}  // namespace teson
