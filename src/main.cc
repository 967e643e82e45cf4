// Wiring only. `teson agent` comes first: it must cost next to nothing, for it lives as long as its job.
#include "adapters/host_linux/linux_host_probe.h"
#include "agent/agent.h"
#include "agent/cgroup.h"
#include "cli/cli.h"
#include "serve/serve.h"

namespace {

int serve_as_asked(const teson::cli::ServeFlags& flags) {
  return teson::serve({.data = flags.data,
                       .listen = flags.listen,
                       .config = flags.config,
                       .missing_limits = teson::describe_cgroups().note,
                       .tls_certificate = flags.tls_certificate,
                       .tls_key = flags.tls_key,
                       .allow_public = flags.allow_public});
}

teson::cli::CgroupFacts cgroup_facts() {
  const teson::CgroupReport report = teson::describe_cgroups();
  return {.memory = report.memory,
          .cpu = report.cpu,
          .pids = report.pids,
          .kill = report.kill,
          .directories = report.directories,
          .note = report.note};
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = teson::agent_entry(argc, argv)) return *status;
  teson::cli::Hooks hooks;
  hooks.version = TESON_VERSION;
  hooks.serve = serve_as_asked;
  hooks.probe_host = [] { return teson::LinuxHostProbe().probe(); };
  hooks.cgroups = cgroup_facts;
  return teson::cli::cli_main(argc, argv, hooks);
}
