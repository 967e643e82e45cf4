#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/live_screen.h"
#include "cli/output.h"
#include "cli/text.h"
#include "cli/top_view.h"
#include "cli/units.h"

namespace teson::cli {
namespace {

struct Options {
  std::string every = "2s";
  bool once = false;
};

Outcome<int> show_once(const Context& context, Client& client) {
  const auto view = gather_top(client);
  if (!view) return std::unexpected(view.error());
  if (context.json()) {
    print_json(top_json(*view));
    return 0;
  }
  for (const std::string& line : top_frame(*view, now(), client.session().endpoint, {terminal_width(), 0})) {
    print(line + "\n");
  }
  return 0;
}

// A server that is away is waited for, with the last frame below what is wrong.
Outcome<int> follow(const Context& context, Client& client, Duration every) {
  TopView last;
  LiveScreen screen;
  do {
    auto view = gather_top(client);
    const bool first = last.overview.is_null();
    if (!view && (first || !view.error().passing)) return std::unexpected(view.error());
    if (view) last = *view;
    const ScreenSize size = screen.size();
    std::vector<std::string> lines;
    if (!view) {
      lines.push_back(cut_to_width(printable(view.error().message), size.columns));
      if (const auto session = open_session(context.global)) client = Client(*session);
    }
    for (std::string& line : top_frame(last, now(), client.session().endpoint, size)) lines.push_back(std::move(line));
    lines.resize(std::min(lines.size(), size.lines));
    screen.draw(lines);
  } while (screen.wait(every));
  return 0;
}

Outcome<int> run_top(const Context& context, const Options& options) {
  const auto every = parse_duration(options.every);
  if (!every) return bad_flag("--every", every.error());
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  if (options.once || context.json() || !LiveScreen::possible()) return show_once(context, client);
  return follow(context, client, *every);
}

}  // namespace

void add_top(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "top", "Show queues, instances, what runs and what is next, again and again; q or Ctrl-C ends it");
  auto options = std::make_shared<Options>();
  command->add_flag("--once", options->once, "One look; also where the output is no terminal, and with --output json");
  command->add_option("--every", options->every, "How often to look")->type_name("DURATION")->capture_default_str();
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_top(context, *options); }; });
}

}  // namespace teson::cli
