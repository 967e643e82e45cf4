// computeResources.instanceTypes -> the types that an environment may start, smallest first. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/batch/settings.h"
#include "domain/catalogue.h"

namespace teson::batch {

// An unknown name is refused with near ones named.
Result<std::vector<InstanceType>> resolve_instance_types(const std::vector<std::string>& names,
                                                         const InstanceCatalogue& catalogue,
                                                         const BatchSettings& settings);
// The machine itself. Its price is that of the catalogue's row "host", if it has one, else 0.
InstanceType host_type(const InstanceCatalogue& catalogue, const BatchSettings& settings);

}  // namespace teson::batch
