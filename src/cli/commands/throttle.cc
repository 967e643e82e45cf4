#include <fmt/format.h>

#include "cli/array_range.h"
#include "cli/array_view.h"
#include "cli/commands/commands.h"
#include "cli/output.h"

namespace teson::cli {
namespace {

struct Options {
  std::string id;
  std::string limit;
};

Outcome<int> run_throttle(const Context& context, const Options& options) {
  const auto limit = parse_throttle(options.limit);
  if (!limit) return bad_flag("throttle", limit.error());
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  const auto id = resolve_job_id(client, options.id);
  if (!id) return std::unexpected(id.error());
  const auto detail = describe_job(client, *id);
  if (!detail) return std::unexpected(detail.error());
  const JobView job = job_view(*detail);
  if (!array_view(*detail)) {
    return usage(fmt::format("throttle: {} is {}; only a whole array has a throttle", job_label(job),
                             child_index(*detail) ? "a child of an array" : "not an array"));
  }
  const auto tagged =
      client.tag(text_field(*detail, "jobArn"), Json::object({{"teson:array-throttle", fmt::format("{}", *limit)}}));
  if (!tagged) return std::unexpected(tagged.error());
  if (context.json()) {
    print_json(Json::object({{"jobId", job.id}, {"throttle", *limit}}));
  } else if (*limit == 0) {
    print(fmt::format("{}: as many children at once as there is room for\n", job_label(job)));
  } else {
    print(fmt::format("{}: at most {} at once; children that run go on\n", job_label(job), *limit));
  }
  return 0;
}

}  // namespace

void add_throttle(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("throttle", "Change how many children of an array run at once");
  auto options = std::make_shared<Options>();
  command->add_option("id", options->id, "Id of an array, or the beginning of one")->required()->type_name("ID");
  command->add_option("limit", options->limit, "At most so many at once; 0: no limit")->required()->type_name("N");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_throttle(context, *options); }; });
}

}  // namespace teson::cli
