#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/apply_plan.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

using Action = ApplyStep::Action;

struct Options {
  std::vector<std::string> files;
  bool dry_run = false;
};

Outcome<std::string> standard_input() {
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return usage(fmt::format("-f -: cannot read standard input: {}", std::strerror(errno)));
    if (got == 0 || text.size() > kLargestYaml) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

Outcome<std::vector<ManifestFile>> read_files(const std::vector<std::string>& names) {
  std::vector<ManifestFile> out;
  for (const std::string& name : names) {
    if (std::ranges::count(names, name) > 1) return usage(fmt::format("-f {}: given twice", printable(name)));
    if (name == "-") {
      auto text = standard_input();
      if (!text) return std::unexpected(text.error());
      out.push_back({"standard input", *std::move(text)});
      continue;
    }
    auto text = read_text_file(name);
    if (!text) return usage("-f: " + printable(text.error().message));
    out.push_back({name, *std::move(text)});
  }
  return out;
}

std::string_view word(Action action) {
  return action == Action::kCreate ? "create" : action == Action::kChange ? "change" : "unchanged";
}

std::string done_word(const ApplyStep& step) {
  if (step.action == Action::kUnchanged) return "unchanged";
  if (step.document.kind == ManifestKind::kJob) return "submitted: " + printable(step.id);
  if (step.document.kind == ManifestKind::kDefinition) {
    return fmt::format("{} revision {}", step.action == Action::kCreate ? "created," : "changed, now",
                       printable(step.id.substr(step.id.rfind(':') + 1)));
  }
  return step.action == Action::kCreate ? "created" : "changed";
}

std::string shown(const Json& value) {
  return printable(value.is_string() ? value.get<std::string>() : json_line(value));
}

void print_difference(const ApplyStep& step) {
  const auto& document = step.document;
  print(fmt::format("{} ({}:{}): {}\n", document.label(), printable(document.file), document.place.line,
                    word(step.action)));
  for (const FieldChange& change : step.changes) {
    if (!change.from.is_null()) print(fmt::format("-  {}: {}\n", printable(change.field), shown(change.from)));
    if (!change.to.is_null()) print(fmt::format("+  {}: {}\n", printable(change.field), shown(change.to)));
  }
}

Json step_json(const ApplyStep& step) {
  Json changes = Json::array();
  for (const FieldChange& change : step.changes) {
    changes.push_back(Json::object({{"field", change.field}, {"from", change.from}, {"to", change.to}}));
  }
  const auto& document = step.document;
  Json out = Json::object({{"kind", kind_name(document.kind)},
                           {"name", document.name},
                           {"file", document.file},
                           {"line", document.place.line},
                           {"action", word(step.action)},
                           {"done", step.done},
                           {"changes", std::move(changes)}});
  if (!step.id.empty()) out[document.kind == ManifestKind::kJob ? "jobId" : "arn"] = step.id;
  return out;
}

std::string summary(const std::vector<ApplyStep>& steps) {
  const auto count = [&](Action action) { return std::ranges::count(steps, action, &ApplyStep::action); };
  return fmt::format("{} to create, {} to change, {} unchanged", count(Action::kCreate), count(Action::kChange),
                     count(Action::kUnchanged));
}

Failure with_what_is_left(const std::vector<ApplyStep>& steps, size_t failed, const Failure& why) {
  Failure out = why;
  std::string left;
  for (size_t i = failed; i < steps.size(); ++i) {
    if (steps[i].action == Action::kUnchanged) continue;
    left += (left.empty() ? "" : ", ") + steps[i].document.label();
  }
  const auto done = std::count_if(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(failed),
                                  [](const ApplyStep& step) { return step.action != Action::kUnchanged; });
  const auto& document = steps[failed].document;
  out.message = at(
      document.file, document.place,
      fmt::format("{}: {}\nteson: {} done before it; not done: {}. Run it again to go on from here.", document.label(),
                  why.message, done == 1 ? "1 document was" : fmt::format("{} documents were", done), left));
  return out;
}

void print_steps_json(const std::vector<ApplyStep>& steps, bool dry_run) {
  Json documents = Json::array();
  for (const ApplyStep& step : steps) documents.push_back(step_json(step));
  print_json(Json::object({{"dryRun", dry_run}, {"documents", std::move(documents)}}));
}

Outcome<int> run_apply(const Context& context, const Options& options) {
  const auto files = read_files(options.files);
  if (!files) return std::unexpected(files.error());
  auto documents = read_manifest(*files);
  if (!documents) return usage(documents.error().message);
  if (documents->empty()) return usage("-f: there is no document in what was given");
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  auto steps = plan_apply(client, *std::move(documents));
  if (!steps) return std::unexpected(steps.error());
  std::optional<Failure> failed;
  for (size_t i = 0; i < steps->size() && !failed; ++i) {
    ApplyStep& step = (*steps)[i];
    if (!options.dry_run) {
      if (const auto done = carry_out(client, step); !done) failed = with_what_is_left(*steps, i, done.error());
    }
    if (context.json() || failed) continue;
    if (options.dry_run) {
      print_difference(step);
    } else {
      print(fmt::format("{} {}\n", step.document.label(), done_word(step)));
    }
  }
  if (context.json()) print_steps_json(*steps, options.dry_run);
  if (failed) return std::unexpected(*std::move(failed));
  if (options.dry_run && !context.json()) print(summary(*steps) + "; nothing was changed (--dry-run)\n");
  return 0;
}

}  // namespace

void add_apply(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "apply", "Make environments, queues, policies, definitions and jobs as YAML files say, or change what differs");
  auto options = std::make_shared<Options>();
  command->add_option("-f,--file", options->files, "A file of YAML documents, - for standard input; may be repeated")
      ->required()
      ->type_name("FILE");
  command->add_flag("--dry-run", options->dry_run,
                    "Say what would be created and changed, field by field; change nothing");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_apply(context, *options); }; });
}

}  // namespace teson::cli
