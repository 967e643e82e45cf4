#include "api/batch/extension_tags.h"

#include <fmt/format.h>

#include <charconv>

#include "api/batch/validate.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr std::string_view kPrefix = "teson:";
constexpr int kMaxGraceSeconds = 3600;
constexpr size_t kMaxPath = 255;  // a tag's value has 256 characters

Result<Duration> parse_grace(std::string_view value) {
  int seconds = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc() && end == value.data() + value.size() && seconds >= 0 && seconds <= kMaxGraceSeconds) {
    return Duration::seconds(seconds);
  }
  return invalid(fmt::format("tag teson:grace-seconds is {}: it must be a whole number from 0 to {}", in_quotes(value),
                             kMaxGraceSeconds));
}

Result<bool> parse_interruptions(std::string_view value) {
  if (value == "counted") return true;
  if (value == "free") return false;
  return invalid(fmt::format("tag teson:interruptions is {}: it must be free or counted", in_quotes(value)));
}

Result<std::string> parse_directory(const std::string& value) {
  if (value.starts_with('/') && value.size() <= kMaxPath && value.find('\0') == std::string::npos) return value;
  return invalid(fmt::format("tag teson:working-directory is {}: it must be an absolute path", in_quotes(value)));
}

Result<bool> parse_after(std::string_view value) {
  if (value == "any") return true;
  if (value == "success") return false;
  return invalid(fmt::format("tag teson:after is {}: it must be any or success", in_quotes(value)));
}

Result<int> parse_throttle(std::string_view value) {
  int limit = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), limit);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  if (whole && limit >= 0 && limit <= kMaxArraySize) return limit;
  return invalid(
      fmt::format("tag teson:array-throttle is {}: it must be a whole number from 1 to {}, or 0 for no limit",
                  in_quotes(value), kMaxArraySize));
}

Result<JobId> parse_rerun(std::string_view value) {
  const auto id = JobId::parse(value);
  if (id && !id->is_child()) return *id;
  return invalid(fmt::format("tag teson:rerun-of is {}: it must be the id of an array job", in_quotes(value)));
}

}  // namespace

Result<ExtensionTags> parse_extension_tags(const Tags& tags) {
  ExtensionTags out;
  for (auto at = tags.lower_bound(std::string(kPrefix)); at != tags.end() && at->first.starts_with(kPrefix); ++at) {
    const auto& [key, value] = *at;
    if (key == "teson:working-directory") {
      TESON_TRY(out.working_directory, parse_directory(value));
    } else if (key == "teson:grace-seconds") {
      TESON_TRY(out.grace, parse_grace(value));
    } else if (key == "teson:interruptions") {
      TESON_TRY(out.interruptions_use_attempts, parse_interruptions(value));
    } else if (key == "teson:after") {
      TESON_TRY(out.after_any, parse_after(value));
    } else if (key == "teson:array-throttle") {
      TESON_TRY(out.array_throttle, parse_throttle(value));
    } else if (key == "teson:rerun-of") {
      TESON_TRY(out.rerun_of, parse_rerun(value));
    } else if (key == kOwnerTag) {
      return owner_tag_is_ours();
    } else {
      return invalid(
          fmt::format("tag {} is not known: the tags that begin with teson: are teson:working-directory, "
                      "teson:grace-seconds, teson:interruptions, teson:after, teson:array-throttle and teson:rerun-of",
                      in_quotes(key)));
    }
  }
  return out;
}

std::unexpected<Error> owner_tag_is_ours() {
  return invalid("tag teson:owner is the server's own: a job belongs to the user who submits it, so leave the tag out");
}

Status take_owner_tag(wire::Json& body, const Caller& by) {
  const auto tags = body.find("tags");
  if (tags == body.end() || !tags->is_object()) return {};
  const auto owner = tags->find(kOwnerTag);
  if (owner == tags->end()) return {};
  if (!owner->is_string() || owner->get_ref<const std::string&>() != by.name) return owner_tag_is_ours();
  tags->erase(owner);
  return {};
}

Tags shown_tags(const JobSpec& spec) {
  Tags tags = spec.tags;
  if (!spec.owner.empty()) tags.emplace(kOwnerTag, spec.owner);
  return tags;
}

ExtensionTags merged(const ExtensionTags& definition, const ExtensionTags& submit) {
  ExtensionTags out = submit;
  if (!out.working_directory) out.working_directory = definition.working_directory;
  if (!out.grace) out.grace = definition.grace;
  if (!out.interruptions_use_attempts) out.interruptions_use_attempts = definition.interruptions_use_attempts;
  if (!out.after_any) out.after_any = definition.after_any;
  if (!out.array_throttle) out.array_throttle = definition.array_throttle;
  return out;
}

}  // namespace teson::batch
