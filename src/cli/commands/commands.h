// Every command: one file each, which declares its options on the CLI11 tree and says what to do.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/failure.h"
#include "cli/session.h"

namespace teson::cli {

struct Context {
  const Hooks& hooks;
  GlobalOptions global;
  // What followed "--": taken off before CLI11 sees the line, so that nothing in it is read as ours.
  std::vector<std::string> after_dashes;
  bool has_dashes = false;
  // Set by the command that was named; run once parsing has succeeded.
  std::function<Outcome<int>()> action;

  bool json() const { return global.output == "json"; }
};

void add_serve(CLI::App& app, Context& context);
void add_env(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_jobs(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_top(CLI::App& app, Context& context);
void add_help(CLI::App& app, Context& context);
void add_history(CLI::App& app, Context& context);
void add_wait(CLI::App& app, Context& context);
void add_logs(CLI::App& app, Context& context);
void add_stop(CLI::App& app, Context& context);
void add_apply(CLI::App& app, Context& context);
void add_rerun(CLI::App& app, Context& context);
void add_throttle(CLI::App& app, Context& context);
void add_interrupt(CLI::App& app, Context& context);
void add_user(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_version(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);

// Usage failure "--flag: <what is wrong>".
inline std::unexpected<Failure> bad_flag(const std::string& flag, const Error& error) {
  return usage(flag + ": " + error.message);
}

}  // namespace teson::cli
