#include "sim/world_judge.h"

namespace teson::sim {

void WorldJudge::agent_began(const LaunchOrder& order) {
  SIM_REQUIRE(ever_.insert(order.id).second, "attempt {} runs twice", order.id.text());
  SIM_REQUIRE(jobs_alive_.insert(order.id.job).second, "attempt {} begins while another agent of its job is alive",
              order.id.text());
  const std::string objection = ledger_.objection_to(order.id);
  SIM_REQUIRE(objection.empty(), "attempt {} begins, but {}", order.id.text(), objection);
  used_ = used_ + order.limits;
  SIM_REQUIRE(used_.fits_in(site_.host), "attempt {} begins on a host that is full", order.id.text());
  for (const int gpu : order.gpus) {
    SIM_REQUIRE(gpus_.insert(gpu).second, "attempt {} begins on GPU {}, which another holds", order.id.text(), gpu);
  }
}

void WorldJudge::agent_ended(const LaunchOrder& order) {
  jobs_alive_.erase(order.id.job);
  used_ = used_ - order.limits;
  for (const int gpu : order.gpus) gpus_.erase(gpu);
}

}  // namespace teson::sim
