#include "serve/access_keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/owned_fd.h"
#include "wire/credentials.h"

namespace teson {
namespace {

// 5 or 6 whole bits a character: the alphabets of AWS's own keys, so that every client accepts ours.
Result<std::string> random_text(size_t length, std::string_view alphabet) {
  std::array<unsigned char, 64> bits{};
  if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) return errno_error("getrandom");
  std::string out;
  for (size_t i = 0; i < length; ++i) out += alphabet[bits.at(i) % alphabet.size()];
  return out;
}

Status write_private(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  unlink(temporary.c_str());
  OwnedFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd.get() < 0) return errno_error("create " + temporary);
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return errno_error("write " + temporary);
  if (fsync(fd.get()) != 0) return errno_error("fsync " + temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) return errno_error("rename " + temporary);
  return {};
}

Status make_keys(const std::string& path) {
  auto id = random_text(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
  auto secret = random_text(40, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  if (!id || !secret) return std::unexpected((id ? secret : id).error());
  auto text = wire::render_credentials({{"default", "AKIA" + *id, *secret, ""}});
  if (!text) return std::unexpected(text.error());
  return write_private(path, *text);
}

}  // namespace

Result<http::FixedCredentials> open_access_keys(const std::string& data) {
  const std::string path = data + "/credentials";
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return errno_error("stat " + path);
    if (auto made = make_keys(path); !made) return std::unexpected(made.error());
  } else if ((info.st_mode & 077) != 0) {
    return fail(ErrorKind::kDenied,
                fmt::format("{} may be read by others (mode {:04o}): chmod 600 it, and replace its keys if "
                            "somebody may have seen them",
                            path, info.st_mode & 07777));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file) return errno_error("open " + path);
  text << file.rdbuf();
  auto profiles = wire::parse_credentials(text.str());
  if (!profiles) return invalid(path + ": " + profiles.error().message);
  std::vector<http::FixedCredentials::Key> keys;
  for (const auto& profile : *profiles) keys.push_back({profile.access_key_id, profile.secret_access_key});
  if (keys.empty()) return invalid(path + ": holds no key; remove the file to have one made");
  return http::FixedCredentials(std::move(keys));
}

}  // namespace teson
