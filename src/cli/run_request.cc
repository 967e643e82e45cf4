#include "cli/run_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/array_range.h"
#include "cli/session.h"
#include "cli/text.h"
#include "cli/units.h"
#include "domain/resources.h"

namespace teson::cli {
namespace {

constexpr size_t kLongestName = 128;
constexpr size_t kLongestPath = 255;
constexpr int64_t kMostGraceSeconds = 3600;
constexpr int64_t kMostRetries = 9;  // attempts: 1 to 10
constexpr int64_t kLeastTimeoutSeconds = 60;
constexpr int64_t kLeastMemoryMib = 4;
constexpr const char* kReservedPrefix = "AWS_BATCH";

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; }

std::string name_characters_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (is_name_character(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && !std::isalnum(static_cast<unsigned char>(name.front()))) name.erase(0, 1);
  while (name.ends_with('-')) name.pop_back();
  return name.substr(0, kLongestName);
}

bool is_interpreter(std::string_view program) {
  static constexpr std::string_view kNames[] = {"sh",   "bash", "dash",    "zsh",  "perl",
                                                "ruby", "node", "Rscript", "julia"};
  return program.starts_with("python") || std::find(std::begin(kNames), std::end(kNames), program) != std::end(kNames);
}

Outcome<std::string> job_name(const RunOptions& options) {
  if (options.name.empty()) return name_from_command(options.command);
  const std::string& name = options.name;
  const bool good = name.size() <= kLongestName && std::isalnum(static_cast<unsigned char>(name.front())) &&
                    std::all_of(name.begin(), name.end(), is_name_character);
  if (good) return name;
  return usage(
      fmt::format("--name: '{}' is not a job name; it is 1 to {} letters, digits, '-' and '_', the first a letter "
                  "or digit",
                  printable(name), kLongestName));
}

Outcome<Json> resources(const RunOptions& options) {
  const auto vcpus = parse_milli_vcpus(options.vcpus);
  if (!vcpus) return usage("--vcpus: " + vcpus.error().message);
  const auto memory = parse_memory_mib(options.memory);
  if (!memory) return usage("--memory: " + memory.error().message);
  if (*memory < kLeastMemoryMib) {
    return usage(fmt::format("--memory: '{}' is too small; at least {}MiB", options.memory, kLeastMemoryMib));
  }
  if (options.gpus < 0) return usage(fmt::format("--gpus: {} is not a number of GPUs; 0 or more", options.gpus));
  Json list = Json::array({Json::object({{"type", "VCPU"}, {"value", vcpus_text(*vcpus)}}),
                           Json::object({{"type", "MEMORY"}, {"value", fmt::format("{}", *memory)}})});
  if (options.gpus > 0) list.push_back(Json::object({{"type", "GPU"}, {"value", fmt::format("{}", options.gpus)}}));
  return list;
}

Outcome<Json> environment(const RunOptions& options) {
  Json list = Json::array();
  for (const std::string& entry : options.environment) {
    const size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    if (name.empty()) return usage(fmt::format("--env: '{}' has no name; write it like NAME=value", printable(entry)));
    if (name.starts_with(kReservedPrefix)) {
      return usage(fmt::format("--env: '{}': names that begin with {} are reserved", printable(name), kReservedPrefix));
    }
    std::string value;
    if (equals != std::string::npos) {
      value = entry.substr(equals + 1);
    } else if (const char* here = std::getenv(name.c_str())) {
      value = here;
    } else {
      return usage(fmt::format("--env: {} is not set here; write --env {}=value", printable(name), printable(name)));
    }
    if (!is_utf8(name) || !is_utf8(value)) return usage(fmt::format("--env: {} is not UTF-8", printable(name)));
    list.push_back(Json::object({{"name", name}, {"value", value}}));
  }
  return list;
}

Outcome<Json> command(const RunOptions& options) {
  if (options.command.empty()) return usage("run: no command; write it after '--': teson run -- python3 train.py");
  Json words = Json::array();
  for (const std::string& word : options.command) {
    if (!is_utf8(word)) return usage(fmt::format("run: '{}' in the command is not UTF-8", printable(word)));
    words.push_back(word);
  }
  if (options.command.front().empty()) return usage("run: the command's first word, the program, is empty");
  return words;
}

Outcome<std::optional<ArrayRange>> array_of(const RunOptions& options) {
  const Dependencies& depends_on = options.depends_on;
  if (!options.array.empty()) {
    const auto range = parse_array_range(options.array);
    if (!range) return usage("--array: " + range.error().message);
    return *range;
  }
  const std::pair<const char*, bool> for_arrays[] = {{"--each-after", !depends_on.each_after.empty()},
                                                     {"--each-after-any", !depends_on.each_after_any.empty()},
                                                     {"--sequential", depends_on.sequential},
                                                     {"--sequential-any", depends_on.sequential_any}};
  for (const auto& [flag, given] : for_arrays) {
    if (given) return usage(fmt::format("{}: is about an array's children; give --array 0-N too", flag));
  }
  return std::nullopt;
}

// True: whatever becomes of what it waits for.
Outcome<bool> waits_for_any_end(const Dependencies& depends_on) {
  const bool success = !depends_on.after.empty() || !depends_on.each_after.empty() || depends_on.sequential;
  const bool any = !depends_on.after_any.empty() || !depends_on.each_after_any.empty() || depends_on.sequential_any;
  if (success && any) {
    return usage(
        "--after, --each-after and --sequential cannot be mixed with --after-any, --each-after-any and "
        "--sequential-any: a job waits either for success or for any end");
  }
  return any;
}

Outcome<Json> tags(const RunOptions& options, const std::string& current_directory) {
  Json tags = Json::object();
  if (options.working_directory != "fresh") {
    std::filesystem::path path(options.working_directory.empty() ? current_directory : options.working_directory);
    if (path.is_relative()) path = std::filesystem::path(current_directory) / path;
    std::string text = path.lexically_normal().string();
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    if (text.size() > kLongestPath || !is_utf8(text)) {
      return usage(fmt::format("--workdir: '{}' must be UTF-8 of at most {} bytes; 'fresh' gives each attempt its own",
                               printable(text), kLongestPath));
    }
    tags["teson:working-directory"] = text;
  }
  if (!options.grace.empty()) {
    const auto grace = parse_duration(options.grace);
    if (!grace) return usage("--grace: " + grace.error().message);
    if (grace->whole_seconds() > kMostGraceSeconds) {
      return usage(fmt::format("--grace: '{}' is too long; at most 1h", options.grace));
    }
    tags["teson:grace-seconds"] = fmt::format("{}", grace->whole_seconds());
  }
  if (options.spot) tags["teson:interruptions"] = "free";
  return tags;
}

}  // namespace

std::string name_from_command(const std::vector<std::string>& command) {
  if (command.empty()) return "job";
  std::filesystem::path chosen = std::filesystem::path(command.front()).filename();
  if (is_interpreter(chosen.string())) {
    for (size_t i = 1; i < command.size(); ++i) {
      const std::string& word = command[i];
      // "-c CODE" and "-m MODULE": code makes no name, a module does.
      if (word == "-m" && i + 1 < command.size()) {
        chosen = command[i + 1];
        break;
      }
      if (word == "-c" || word == "-e") break;
      if (word.starts_with('-')) continue;
      chosen = std::filesystem::path(word).stem();
      break;
    }
  }
  const std::string name = name_characters_of(chosen.string());
  return name.empty() ? "job" : name;
}

std::string definition_name(const std::string& image) {
  if (image == "host") return "teson-run";
  uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a: two images of like characters are two definitions
  for (const char c : image) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  constexpr size_t kLongestImagePart = 80;
  return fmt::format("teson-run-{}-{:08x}", name_characters_of(image).substr(0, kLongestImagePart), hash >> 32);
}

Json register_request(const std::string& image) {
  const Json requirements = Json::array(
      {Json::object({{"type", "VCPU"}, {"value", "1"}}), Json::object({{"type", "MEMORY"}, {"value", "2048"}})});
  return Json::object(
      {{"jobDefinitionName", definition_name(image)},
       {"type", "container"},
       {"containerProperties", Json::object({{"image", image}, {"resourceRequirements", requirements}})}});
}

Outcome<Json> submit_request(const RunOptions& options, const std::string& current_directory) {
  if (options.spot && !options.queue.empty()) {
    return usage(
        "--spot and --queue: give one of them; --spot is --queue spot with interruptions not counted as attempts");
  }
  if (options.image.empty()) return usage("--image: is empty; 'host' is this machine's own file system");
  if (options.retries < 0 || options.retries > kMostRetries) {
    return usage(fmt::format("--retries: {} is out of range; 0 to {}", options.retries, kMostRetries));
  }
  auto words = command(options);
  if (!words) return words;
  const auto name = job_name(options);
  if (!name) return std::unexpected(name.error());
  auto requirements = resources(options);
  if (!requirements) return requirements;
  auto variables = environment(options);
  if (!variables) return variables;
  auto extensions = tags(options, current_directory);
  if (!extensions) return extensions;

  const auto array = array_of(options);
  if (!array) return std::unexpected(array.error());
  const auto any_end = waits_for_any_end(options.depends_on);
  if (!any_end) return std::unexpected(any_end.error());
  if (*any_end) (*extensions)["teson:after"] = "any";
  if (*array && (*array)->throttle > 0) {
    (*extensions)["teson:array-throttle"] = fmt::format("{}", (*array)->throttle);
  }

  Json request = Json::object({
      {"jobName", *name},
      {"jobQueue", options.spot            ? "spot"
                   : options.queue.empty() ? "default"
                                           : options.queue},
      {"jobDefinition", definition_name(options.image)},
      {"containerOverrides",
       Json::object({{"command", *words}, {"environment", *variables}, {"resourceRequirements", *requirements}})},
      {"retryStrategy", Json::object({{"attempts", options.retries + 1}})},
      {"tags", *extensions},
  });
  if (*array) request["arrayProperties"] = Json::object({{"size", (*array)->size}});
  if (!options.max_run.empty()) {
    const auto limit = parse_duration(options.max_run);
    if (!limit) return usage("--max-run: " + limit.error().message);
    if (limit->whole_seconds() < kLeastTimeoutSeconds) {
      return usage(fmt::format("--max-run: '{}' is too short; at least {}s", options.max_run, kLeastTimeoutSeconds));
    }
    request["timeout"] = Json::object({{"attemptDurationSeconds", limit->whole_seconds()}});
  }
  return request;
}

}  // namespace teson::cli
