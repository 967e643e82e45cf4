#include "adapters/launch_local/local_world_testing.h"
#include "contracts/launcher_contract.h"

namespace teson {
namespace {

INSTANTIATE_TEST_SUITE_P(Local, LauncherContract,
                         testing::Values(LauncherFactory{"local", [] { return std::make_unique<LocalWorld>(); }}));

}  // namespace
}  // namespace teson
