#include "serve/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace teson {
namespace {

std::string where(const YAML::Node& node) {
  return node.Mark().is_null() ? std::string() : fmt::format("line {}: ", node.Mark().line + 1);
}

Result<std::string> text_of(const YAML::Node& node, const std::string& key) {
  if (!node.IsScalar())
    return invalid(fmt::format("{}{}: one value is expected, not a list or a map", where(node), key));
  return node.Scalar();
}

Result<int64_t> whole_number(const YAML::Node& node, const std::string& key, int64_t low, int64_t high) {
  auto text = text_of(node, key);
  if (!text) return std::unexpected(text.error());
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < low || value > high) {
    return invalid(fmt::format("{}{}: '{}' is not a whole number from {} to {}", where(node), key, *text, low, high));
  }
  return value;
}

Result<int64_t> milli_vcpus(const YAML::Node& node, const std::string& key) {
  auto text = text_of(node, key);
  if (!text) return std::unexpected(text.error());
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || !(value >= 0.1 && value <= 4096)) {
    return invalid(fmt::format("{}{}: '{}' is not a number of vCPUs from 0.1 to 4096", where(node), key, *text));
  }
  return std::llround(value * 1000);
}

Result<bool> boolean(const YAML::Node& node, const std::string& key) {
  bool value = false;
  if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value)) {
    return invalid(fmt::format("{}{}: true or false is expected", where(node), key));
  }
  return value;
}

template <class T>
Status set(T& target, Result<int64_t> value) {
  if (!value) return std::unexpected(value.error());
  target = *value;
  return {};
}

Status set_one_of(std::string& target, const YAML::Node& node, const std::string& key,
                  std::initializer_list<std::string_view> allowed) {
  auto text = text_of(node, key);
  if (!text) return std::unexpected(text.error());
  for (const std::string_view word : allowed) {
    if (*text == word) {
      target = std::move(*text);
      return {};
    }
  }
  return invalid(fmt::format("{}{}: '{}' is not one of {}", where(node), key, *text, fmt::join(allowed, ", ")));
}

using Setter = std::function<Status(Config&, const YAML::Node&, const std::string&)>;

Status read_map(Config& config, const YAML::Node& node, const std::string& path,
                const std::map<std::string, Setter>& keys) {
  if (!node.IsMap()) return invalid(fmt::format("{}{}: a map of settings is expected", where(node), path));
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    const std::string full = path.empty() ? key : path + "." + key;
    const auto found = keys.find(key);
    if (found == keys.end()) {
      std::vector<std::string> known;
      for (const auto& [name, setter] : keys) known.push_back(path.empty() ? name : path + "." + name);
      return invalid(
          fmt::format("{}unknown setting '{}'; known are {}", where(entry.first), full, fmt::join(known, ", ")));
    }
    if (auto status = found->second(config, entry.second, full); !status) return status;
  }
  return {};
}

Status read_images(Config& config, const YAML::Node& node, const std::string& key) {
  if (!node.IsSequence())
    return invalid(fmt::format("{}{}: a list of {{pattern, runtime}} is expected", where(node), key));
  for (const YAML::Node& item : node) {
    const bool shape = item.IsMap() && item["pattern"] && item["pattern"].IsScalar() && item["runtime"] &&
                       item["runtime"].IsScalar() && item.size() == 2;
    if (!shape) return invalid(fmt::format("{}{}: each entry has exactly a pattern and a runtime", where(item), key));
    const std::string runtime = item["runtime"].Scalar();
    if (runtime != "process") {
      return invalid(
          fmt::format("{}{}: runtime '{}' is not known; 'process' runs the command on the host's own file system",
                      where(item), key, runtime));
    }
    config.images.push_back({item["pattern"].Scalar(), RuntimeKind::kProcess});
  }
  return {};
}

Status set_region(Config& config, const YAML::Node& node, const std::string& key) {
  auto text = text_of(node, key);
  if (!text) return std::unexpected(text.error());
  if (text->empty() || text->size() > 64 ||
      text->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos) {
    return invalid(fmt::format("{}{}: '{}' is not a region name such as us-east-1", where(node), key, *text));
  }
  config.region = std::move(*text);
  return {};
}

Status set_account(Config& config, const YAML::Node& node, const std::string& key) {
  auto text = text_of(node, key);
  if (!text) return std::unexpected(text.error());
  if (text->size() != 12 || text->find_first_not_of("0123456789") != std::string::npos) {
    return invalid(fmt::format("{}{}: '{}' is not an account number of twelve digits (quote it, if it begins with 0)",
                               where(node), key, *text));
  }
  config.account_id = std::move(*text);
  return {};
}

Status set_keep_work(Config& config, const YAML::Node& node, const std::string& key) {
  std::string word;
  if (auto status = set_one_of(word, node, key, {"all", "failed", "none"}); !status) return status;
  config.keep_work = word == "all" ? KeepWork::kAll : word == "failed" ? KeepWork::kFailed : KeepWork::kNone;
  return {};
}

Status set_text(std::string& target, const YAML::Node& node, const std::string& key) {
  auto text = text_of(node, key);
  if (!text) return std::unexpected(text.error());
  target = std::move(*text);
  return {};
}

const std::map<std::string, Setter>& host_keys() {
  static const std::map<std::string, Setter> keys = {
      {"vcpus",
       [](Config& c, const YAML::Node& n, const std::string& k) { return set(c.host_milli_vcpus, milli_vcpus(n, k)); }},
      {"memory_mib", [](Config& c, const YAML::Node& n,
                        const std::string& k) { return set(c.host_memory_mib, whole_number(n, k, 4, 1 << 30)); }},
      {"gpus", [](Config& c, const YAML::Node& n,
                  const std::string& k) { return set(c.host_gpus, whole_number(n, k, 0, 64)); }},
  };
  return keys;
}

const std::map<std::string, Setter>& retry_keys() {
  static const std::map<std::string, Setter> keys = {
      {"interruptions_use_attempts",
       [](Config& c, const YAML::Node& n, const std::string& k) -> Status {
         auto value = boolean(n, k);
         if (!value) return std::unexpected(value.error());
         c.interruptions_use_attempts = *value;
         return {};
       }},
  };
  return keys;
}

Status read_accounts(Config& config, const YAML::Node& node, const std::string& key) {
  std::string word;
  if (auto status = set_one_of(word, node, key, {"auto", "required", "off"}); !status) return status;
  config.accounts.rule = word == "auto"       ? AccountRule::kAuto
                         : word == "required" ? AccountRule::kRequired
                                              : AccountRule::kOff;
  return {};
}

Status read_system_accounts(Config& config, const YAML::Node& node, const std::string& key) {
  const auto wrong = [&] {
    return invalid(fmt::format("{}{}: a list of Unix accounts is expected", where(node), key));
  };
  if (!node.IsSequence()) return wrong();
  for (const YAML::Node& item : node) {
    if (!item.IsScalar() || item.Scalar().empty()) return wrong();
    config.accounts.system_accounts.push_back(item.Scalar());
  }
  return {};
}

Status read_tls(Config& config, const YAML::Node& node, const std::string& key) {
  static const std::map<std::string, Setter> keys = {
      {"certificate",
       [](Config& c, const YAML::Node& n, const std::string& k) { return set_text(c.tls_certificate, n, k); }},
      {"key", [](Config& c, const YAML::Node& n, const std::string& k) { return set_text(c.tls_key, n, k); }},
  };
  if (auto status = read_map(config, node, key, keys); !status) return status;
  if (!config.tls_certificate.empty() && !config.tls_key.empty()) return {};
  return invalid(
      fmt::format("{}{}: both certificate and key are needed, each the path of a PEM file", where(node), key));
}

const std::map<std::string, Setter>& top_keys() {
  static const std::map<std::string, Setter> keys = {
      {"listen",
       [](Config& c, const YAML::Node& n, const std::string& k) -> Status {
         if (auto status = set_text(c.listen, n, k); !status) return status;
         auto address = parse_listen(c.listen);
         if (!address) return invalid(where(n) + address.error().message);
         return {};
       }},
      {"region", set_region},
      {"account_id", set_account},
      {"log_level",
       [](Config& c, const YAML::Node& n, const std::string& k) {
         return set_one_of(c.log_level, n, k, {"trace", "debug", "info", "warning", "error"});
       }},
      {"host", [](Config& c, const YAML::Node& n, const std::string& k) { return read_map(c, n, k, host_keys()); }},
      {"retries", [](Config& c, const YAML::Node& n, const std::string& k) { return read_map(c, n, k, retry_keys()); }},
      {"images", read_images},
      {"tls", read_tls},
      {"accounts", read_accounts},
      {"system_accounts", read_system_accounts},
      {"instance_idle_seconds",
       [](Config& c, const YAML::Node& n, const std::string& k) -> Status {
         auto value = whole_number(n, k, 0, 86'400);
         if (!value) return std::unexpected(value.error());
         c.instance_idle = Duration::seconds(*value);
         return {};
       }},
      {"keep_work", set_keep_work},
      {"preemption",
       [](Config& c, const YAML::Node& n, const std::string& k) -> Status {
         auto value = boolean(n, k);
         if (!value) return std::unexpected(value.error());
         c.preemption = *value;
         return {};
       }},
      {"disk_reserve_mib",
       [](Config& c, const YAML::Node& n, const std::string& k) {
         return set(c.disk_reserve_mib, whole_number(n, k, 0, 1 << 30));
       }},
      {"metrics_without_key",
       [](Config& c, const YAML::Node& n, const std::string& k) -> Status {
         auto value = boolean(n, k);
         if (!value) return std::unexpected(value.error());
         c.metrics_without_key = *value;
         return {};
       }},
      {"catalogue", [](Config& c, const YAML::Node& n, const std::string& k) { return set_text(c.catalogue, n, k); }},
  };
  return keys;
}

}  // namespace

Result<Config> parse_config(std::string_view yaml) {
  Config config;
  try {
    const YAML::Node root = YAML::Load(std::string(yaml));
    if (root.IsNull()) return config;
    if (auto status = read_map(config, root, "", top_keys()); !status) return std::unexpected(status.error());
  } catch (const YAML::Exception& e) {
    return invalid(fmt::format("not YAML: {}", e.what()));
  }
  return config;
}

Result<Config> load_config(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return errno_error(fmt::format("open configuration file '{}'", path));
  std::ostringstream text;
  text << file.rdbuf();
  auto config = parse_config(text.str());
  if (!config) return invalid(fmt::format("configuration file '{}': {}", path, config.error().message));
  return config;
}

Result<ListenAddress> parse_listen(std::string_view text) {
  const auto wrong = [&] {
    return invalid(fmt::format("listen: '{}' is not ADDRESS:PORT, such as 127.0.0.1:8790 or [::1]:8790", text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return wrong();
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  if (host.starts_with('[') != host.ends_with(']')) return wrong();
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong();
  }
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (host.empty() || port_text.empty() || error != std::errc() || end != port_text.data() + port_text.size())
    return wrong();
  ListenAddress address;
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  address.port = port;
  address.loopback = address.host.starts_with("127.") || address.host == "::1";
  return address;
}

}  // namespace teson
