#include "api/batch/instance_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/batch/validate.h"

namespace teson::batch {
namespace {

// [AWS Batch user guide: "optimal" stands for types of the C, M and R families]. The catalogue holds the newer ones.
constexpr std::string_view kOptimalFamilies[] = {"c5", "c6i", "c7i", "m5", "m6i", "m7i", "r5", "r6i", "r7i"};

void add_family(std::map<std::string, InstanceType>& types, std::string_view family,
                const InstanceCatalogue& catalogue) {
  for (const CatalogueEntry* entry : catalogue.family(family)) types.emplace(entry->type.name, entry->type);
}

}  // namespace

InstanceType host_type(const InstanceCatalogue& catalogue, const BatchSettings& settings) {
  InstanceType type;
  if (const CatalogueEntry* priced = catalogue.find("host")) type = priced->type;
  type.name = "host";
  type.size = settings.host;
  return type;
}

Result<std::vector<InstanceType>> resolve_instance_types(const std::vector<std::string>& names,
                                                         const InstanceCatalogue& catalogue,
                                                         const BatchSettings& settings) {
  std::map<std::string, InstanceType> types;
  for (const std::string& name : names) {
    const size_t before = types.size();
    if (name == "host") {
      types.emplace(name, host_type(catalogue, settings));
    } else if (name == "optimal") {
      for (const std::string_view family : kOptimalFamilies) add_family(types, family, catalogue);
    } else if (const CatalogueEntry* entry = catalogue.find(name)) {
      types.emplace(name, entry->type);
    } else {
      add_family(types, name, catalogue);
      if (types.size() == before && catalogue.family(name).empty()) {
        return invalid(
            fmt::format("'computeResources.instanceTypes': {} is no known instance type or family; near ones: {}. "
                        "\"host\" is this machine, \"optimal\" the c, m and r families",
                        in_quotes(name), fmt::join(catalogue.near(name, 3), ", ")));
      }
    }
  }
  std::vector<InstanceType> out;
  for (auto& [name, type] : types) out.push_back(std::move(type));
  std::sort(out.begin(), out.end(), smaller_type);
  return out;
}

}  // namespace teson::batch
