#include "cli/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/file_kind.h"
#include "cli/json_access.h"
#include "cli/text.h"
#include "wire/credentials.h"

namespace teson::cli {
namespace {

constexpr const char* kDefaultRegion = "us-east-1";
constexpr size_t kLargestSmallFile = 1 << 20;

std::string home_directory() {
  if (std::string home = environment_value("HOME"); !home.empty()) return home;
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr || entry->pw_dir == nullptr ? std::string() : entry->pw_dir;
}

Outcome<Keys> keys_in(std::string_view text, const std::string& path) {
  const auto profiles = wire::parse_credentials(text);
  if (!profiles) return failure(FailureKind::kConfiguration, fmt::format("{}: {}", path, profiles.error().message));
  const auto profile = wire::find_profile(*profiles, "default");
  if (!profile) return failure(FailureKind::kConfiguration, fmt::format("{}: {}", path, profile.error().message));
  return Keys{profile->access_key_id, profile->secret_access_key};
}

Outcome<Keys> keys_for(const GlobalOptions& options, const std::string& data) {
  if (!options.endpoint.empty()) {
    Keys keys{environment_value("AWS_ACCESS_KEY_ID"), environment_value("AWS_SECRET_ACCESS_KEY")};
    if (!keys.access_key_id.empty() && !keys.secret_access_key.empty()) return keys;
  }
  const std::string path = data + "/credentials";
  const auto text = read_text_file(path);
  if (text) return keys_in(*text, path);
  if (!options.endpoint.empty()) {
    return failure(
        FailureKind::kConfiguration,
        fmt::format("no keys for {}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give --data with the "
                    "server's credentials file ({})",
                    options.endpoint, text.error().message));
  }
  return failure(FailureKind::kConfiguration,
                 fmt::format("no keys: {}; 'teson serve' makes them", text.error().message));
}

// A server that says its region is right about it; what the environment says may be meant for AWS.
std::string region_for(const GlobalOptions& options, const std::optional<ServerFile>& server) {
  if (!options.region.empty()) return options.region;
  if (server && !server->region.empty()) return server->region;
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (std::string value = environment_value(name); !value.empty()) return value;
  }
  return kDefaultRegion;
}

}  // namespace

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

Result<std::string> read_text_file(const std::string& path) {
  // Without a writer, a FIFO would be waited for without end.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno_error("cannot read " + path);
  struct stat facts{};
  if (::fstat(fd, &facts) == 0 && !S_ISREG(facts.st_mode)) {
    ::close(fd);
    return invalid(fmt::format("{} is {}, not a regular file", path, file_kind(facts.st_mode)));
  }
  std::string text;
  char buffer[16384];
  ssize_t got = 0;
  while ((got = ::read(fd, buffer, sizeof buffer)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || text.size() > kLargestSmallFile) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  const int error = errno;
  ::close(fd);
  if (got < 0) return std::unexpected(make_errno_error("cannot read " + path, error));
  if (got > 0) return invalid(fmt::format("{} is larger than {} bytes", path, kLargestSmallFile));
  return text;
}

Outcome<std::string> data_directory(const GlobalOptions& options) {
  std::string path = options.data.empty() ? environment_value("TESON_DATA") : options.data;
  if (path.empty()) {
    const std::string home = home_directory();
    if (home.empty()) {
      return failure(FailureKind::kConfiguration, "no home directory is known: give --data DIR or set TESON_DATA");
    }
    path = home + "/.local/share/teson";
  }
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return failure(FailureKind::kConfiguration, fmt::format("--data '{}': {}", path, error.message()));
  std::string text = absolute.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::optional<ServerFile> read_server_file(const std::string& data) {
  const auto text = read_text_file(data + "/server.json");
  if (!text) return std::nullopt;
  const Json document = Json::parse(*text, nullptr, false);
  ServerFile file;
  const auto endpoint = normalised_endpoint(text_field(document, "endpoint"));
  if (!endpoint) return std::nullopt;
  file.endpoint = *endpoint;
  file.region = text_field(document, "region");
  file.version = text_field(document, "version");
  if (const auto pid = int_field(document, "pid")) file.pid = static_cast<int>(*pid);
  return file;
}

Outcome<Session> open_session(const GlobalOptions& options) {
  Session session;
  const auto data = data_directory(options);
  if (!data) return std::unexpected(data.error());
  session.data = *data;
  session.by_data_directory = options.endpoint.empty();
  const auto server = read_server_file(*data);
  if (options.endpoint.empty() && !server) {
    return failure(FailureKind::kUnreachable,
                   fmt::format("no server runs on {}: start one with 'teson serve --data {}', or name one with "
                               "--endpoint URL",
                               *data, shell_command({*data})));
  }
  const auto endpoint =
      options.endpoint.empty() ? Outcome<std::string>(server->endpoint) : normalised_endpoint(options.endpoint);
  if (!endpoint) return std::unexpected(endpoint.error());
  session.endpoint = *endpoint;
  auto keys = keys_for(options, *data);
  if (!keys) return std::unexpected(keys.error());
  session.keys = *std::move(keys);
  session.region = region_for(options, session.by_data_directory ? server : std::nullopt);
  return session;
}

Outcome<std::string> normalised_endpoint(std::string_view text) {
  const bool http = text.starts_with("http://") && text.size() > 7;
  const bool https = text.starts_with("https://") && text.size() > 8;
  const bool clean = text.find_first_of(" \t\r\n?#\"'") == std::string_view::npos;
  std::string url(text);
  while (url.ends_with('/')) url.pop_back();
  const size_t authority = url.find("://");
  const bool bare = authority != std::string::npos && url.find('/', authority + 3) == std::string::npos;
  if (!(http || https) || !clean || !bare) {
    return usage(fmt::format("'{}' is not an endpoint; write it like http://127.0.0.1:8790", printable(text)));
  }
  return url;
}

}  // namespace teson::cli
