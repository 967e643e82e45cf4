#include "serve/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "adapters/host_linux/linux_host_probe.h"
#include "adapters/host_linux/system_clock.h"
#include "adapters/journal_sqlite/journal_sqlite.h"
#include "adapters/launch_local/local_launcher.h"
#include "adapters/logs_sqlite/logs_sqlite.h"
#include "agent/image.h"
#include "api/batch/batch_api.h"
#include "api/http/auth.h"
#include "api/http/router.h"
#include "api/http/server.h"
#include "api/logs/logs_api.h"
#include "api/metrics/metrics.h"
#include "api/overview/overview_api.h"
#include "api/users/users_api.h"
#include "base/descriptor_limit.h"
#include "control/controller.h"
#include "control/loop.h"
#include "control/replay.h"
#include "domain/catalogue.h"
#include "serve/access_keys.h"
#include "serve/accounts.h"
#include "serve/audit_log.h"
#include "serve/bootstrap.h"
#include "serve/config.h"
#include "serve/data_files.h"
#include "serve/server_file.h"
#include "serve/users_file.h"

namespace teson {
namespace {

constexpr char kVersion[] = TESON_VERSION;
constexpr Duration kLogSweepEvery = Duration::seconds(600);  // log groups' retention

Result<Config> effective_config(const ServeOptions& options) {
  Result<Config> config = options.config.empty() ? Result<Config>(Config{}) : load_config(options.config);
  if (config && !options.listen.empty()) config->listen = options.listen;
  if (config && (!options.tls_certificate.empty() || !options.tls_key.empty())) {
    if (options.tls_certificate.empty() || options.tls_key.empty()) {
      return invalid("--tls-certificate and --tls-key go together: give both");
    }
    config->tls_certificate = options.tls_certificate;
    config->tls_key = options.tls_key;
  }
  return config;
}

Result<ListenAddress> permitted_address(const Config& config, bool allow_public) {
  auto address = parse_listen(config.listen);
  if (address && !address->loopback && config.tls_certificate.empty() && !allow_public) {
    return invalid(
        fmt::format("listen: {} can be reached from other machines and there is no TLS: give a certificate "
                    "(--tls-certificate FILE --tls-key FILE), listen on 127.0.0.1, or pass --allow-public if the "
                    "network is trusted",
                    config.listen));
  }
  return address;
}

Result<InstanceCatalogue> open_catalogue(const Config& config) {
  if (config.catalogue.empty()) return InstanceCatalogue::builtin();
  std::ifstream file(config.catalogue, std::ios::binary);
  if (!file) return errno_error(fmt::format("open catalogue '{}'", config.catalogue));
  std::ostringstream text;
  text << file.rdbuf();
  auto catalogue = InstanceCatalogue::parse(text.str());
  if (!catalogue) return invalid(fmt::format("catalogue '{}': {}", config.catalogue, catalogue.error().message));
  return catalogue;
}

Site make_site(const Config& config, const HostFacts& host) {
  Site site;
  site.host.milli_vcpus = config.host_milli_vcpus.value_or(host.milli_vcpus);
  site.host.memory_mib = std::min(config.host_memory_mib.value_or(host.usable_memory_mib), host.usable_memory_mib);
  site.host.gpus = std::min<int64_t>(config.host_gpus.value_or(std::ssize(host.gpus)), std::ssize(host.gpus));
  site.instance_idle = config.instance_idle;
  site.preemption = config.preemption;
  if (config.host_memory_mib.value_or(0) > site.host.memory_mib) {
    spdlog::warn("host.memory_mib is {}: this host has {} usable MiB, which is what counts", *config.host_memory_mib,
                 site.host.memory_mib);
  }
  if (config.host_gpus.value_or(0) > site.host.gpus) {
    spdlog::warn("host.gpus is {}: this host has {}, which is what counts", *config.host_gpus, site.host.gpus);
  }
  site.images = config.images;
  site.images.push_back({"host", RuntimeKind::kProcess});
  return site;
}

// Everything that runs, in the order in which it depends on each other; taken down in reverse.
class Service {
 public:
  Service(DataDirectory directory, Config config) : directory_(std::move(directory)), config_(std::move(config)) {}
  ~Service() { stop(); }

  Status start(const ListenAddress& listen) {
    auto host = probe_.probe();
    if (!host) return std::unexpected(host.error());
    const Site site = make_site(config_, *host);
    auto catalogue = open_catalogue(config_);
    if (!catalogue) return std::unexpected(catalogue.error());
    if (auto right = check_data_files(directory_.path()); !right) return right;
    if (auto known = open_users(); !known) return known;
    if (geteuid() == 0) {
      close_data_files(directory_.path());
      if (config_.accounts.rule == AccountRule::kOff) {
        spdlog::warn("accounts: off: jobs of users without a Unix account run as root");
      }
    }
    if (auto secured = open_tls(); !secured) return secured;
    if (auto status = start_loop(site); !status) return status;
    if (auto status = start_faces(site, std::move(*catalogue), listen); !status) return status;
    // On a full disk what runs is served all the same, to whoever knows the address.
    const Status announced = announce();
    if (!announced && announced.error().kind != ErrorKind::kUnavailable) return announced;
    spdlog::info("teson {} serves {} on {} ({}{})", kVersion, directory_.path(), endpoint(), resources_text(site.host),
                 host->gpus.empty() ? "; no GPU: " + host->gpu_note : "");
    if (!announced) spdlog::warn("the commands do not find this server yet: {}", announced.error().message);
    return {};
  }

  Status announce() {
    const Status written = write_server_file(directory_.path(), endpoint(), config_.region, kVersion);
    announced_ = written.has_value();
    return written;
  }

  // Called about once a second. kIo: the journal is not the directory's any more, so nothing that is accepted would
  // last.
  Status tend() {
    if (identity_of_journal() != journal_identity_) {
      return fail(ErrorKind::kIo,
                  fmt::format("{}/teson.db was removed or replaced under the running server: it stops, since "
                              "nothing that it accepts would last",
                              directory_.path()));
    }
    watch_disk();
    if (!announced_ && announce()) spdlog::info("the commands find this server now");
    if (clock_->now() < next_sweep_) return {};
    next_sweep_ = clock_->now() + kLogSweepEvery;
    if (const auto swept = log_store_->sweep(clock_->now()); !swept)
      spdlog::warn("log retention: {}", swept.error().message);
    return {};
  }

  // Says in the log what came of it. Without TLS there is nothing to read again.
  bool renew_certificate() {
    if (!tls_) return false;
    if (const Status status = tls_->reload()) {
      spdlog::info("TLS: certificate and key were read again");
    } else {
      spdlog::error("{}; the former certificate stays in use", status.error().message);
    }
    return true;
  }

  void watch_disk() {
    const auto free = probe_.free_bytes(directory_.path());
    const bool low = free && *free < config_.disk_reserve_mib * (int64_t{1} << 20);
    if (low == held_) return;
    held_ = low;
    if (!low) {
      spdlog::info("disk space is back: jobs start again");
      return loop_->hold_starts(std::nullopt);
    }
    const std::string reason =
        fmt::format("{} MiB are free on the disk of {}, less than disk_reserve_mib {}: nothing new starts", *free >> 20,
                    directory_.path(), config_.disk_reserve_mib);
    spdlog::warn("{}", reason);
    loop_->hold_starts(reason);
  }

  void stop() {
    if (http_) {
      remove_server_file(directory_.path());
      http_->stop(Duration::seconds(5));
    }
    if (loop_) loop_->stop();
    launcher_.reset();  // agents carry on
    http_.reset();
  }

 private:
  Status open_users() {
    auto first = open_access_keys(directory_.path());
    if (!first) return std::unexpected(first.error());
    auto users = load_users(directory_.path(), std::move(*first));
    if (!users) return std::unexpected(users.error());
    users_ = std::make_unique<users::UserRegistry>(
        std::move(*users),
        [path = directory_.path()](const users::Users& changed) { return save_users(path, changed); });
    accounts_ = std::make_unique<Accounts>(config_.accounts, *users_);
    return {};
  }

  Status open_tls() {
    if (config_.tls_certificate.empty()) return {};
    auto tls = http::Tls::load({config_.tls_certificate, config_.tls_key});
    if (!tls) return std::unexpected(tls.error());
    tls_ = std::move(*tls);
    return {};
  }

  // As clients here write it: by a name that the certificate is for.
  std::string endpoint() const {
    const std::string address = http_->address();
    if (!tls_) return "http://" + address;
    const size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon);
    const bool bracketed = host.starts_with('[');
    const std::string bare = bracketed ? host.substr(1, host.size() - 2) : host;
    if (std::string name = tls_->name_for(bare); name != bare) host = std::move(name);
    return "https://" + host + address.substr(colon);
  }

  Status start_loop(const Site& site) {
    JournalOptions options;
    options.replay = [site](JournalContents contents) { return replay(site, std::move(contents)).snapshot(); };
    if (auto there = check_journal_is_there(directory_.path()); !there) return there;
    auto journal = SqliteJournal::open(directory_, std::move(options));
    if (!journal) return std::unexpected(journal.error());
    journal_ = std::move(*journal);
    journal_identity_ = identity_of_journal();

    LocalLauncherOptions launch_options;
    launch_options.keep_work = config_.keep_work;
    launch_options.agent_image = agent_image();
    launch_options.account_of = [this](const std::string& owner) { return accounts_->of(owner_name(owner)); };
    auto launcher = LocalLauncher::open(
        directory_.path(), [this](AttemptReport report) { loop_->report(std::move(report)); }, launch_options);
    if (!launcher) return std::unexpected(launcher.error());
    launcher_ = std::move(*launcher);

    controller_ = std::make_unique<Controller>(*journal_, *launcher_, site);
    clock_ = std::make_unique<SystemClock>();
    loop_ = std::make_unique<Loop>(*controller_, *clock_);
    if (auto status = controller_->recover(clock_->now()); !status) return status;
    // Facts never go back in time, so neither may the clock that stamps the next ones.
    clock_->not_before(controller_->state().last_fact_at());
    watch_disk();
    loop_->start();
    return {};
  }

  Status start_faces(const Site& site, InstanceCatalogue catalogue, const ListenAddress& listen) {
    batch::BatchSettings settings;
    settings.region = config_.region;
    settings.account_id = config_.account_id;
    settings.interruptions_use_attempts = config_.interruptions_use_attempts;
    settings.host = site.host;
    settings.admits = [this](const std::string& user) -> Status {
      const auto account = accounts_->of(user);
      if (!account) return std::unexpected(account.error());
      return {};
    };
    batch_ = std::make_unique<batch::BatchApi>(*loop_, controller_->registry(), journal_->history(),
                                               std::move(catalogue), std::move(settings));
    if (auto status = bootstrap(directory_.path(), *batch_, controller_->registry(), site.host); !status) return status;

    auto store = SqliteLogStore::open(directory_.path());
    if (!store) return std::unexpected(store.error());
    log_store_ = std::move(*store);
    logs_ = std::make_unique<logs::LogsApi>(directory_.path(), journal_->history(), *log_store_, *clock_,
                                            logs::LogsSettings{config_.region, config_.account_id});

    users_api_ = std::make_unique<users::UsersApi>(*users_, *clock_, [this](const std::string& name) -> Status {
      const auto account = accounts_->find(name);
      if (!account) return std::unexpected(account.error());
      return {};
    });
    audit_ = std::make_unique<AuditLog>(directory_.path() + "/audit.log");
    authenticator_ = std::make_unique<http::Authenticator>(*users_, [this] { return clock_->wall(); });
    router_ = std::make_unique<http::Router>(*authenticator_, audit_.get());
    batch_->register_routes(*router_);
    users_api_->register_routes(*router_);
    router_->add_target("Logs_20140328.", *logs_);
    router_->add("GET", "/healthz", health_, http::Access::kPublic);
    metrics_ = std::make_unique<metrics::MetricsApi>(*loop_, *router_, directory_.path() + "/teson.db",
                                                     journal_->commit_times(), kVersion);
    overview_ = std::make_unique<overview::OverviewApi>(*loop_);
    router_->add("GET", overview::OverviewApi::kPath, *overview_);
    router_->add("GET", "/metrics", *metrics_,
                 config_.metrics_without_key ? http::Access::kPublic : http::Access::kSigned);

    http::ServerOptions options;
    options.host = listen.host;
    options.port = listen.port;
    // The other half is for attempts, logs and the journal: clients alone must not keep jobs from starting.
    options.max_connections = static_cast<int>(std::min<uint64_t>(options.max_connections, descriptor_limit() / 2));
    options.tls = tls_;
    auto server = http::Server::start(options, metrics_->counted());
    if (!server) return std::unexpected(server.error());
    http_ = std::move(*server);
    return {};
  }

  // Device and file number; nothing while the file is not there.
  std::optional<std::pair<dev_t, ino_t>> identity_of_journal() const {
    struct stat info{};
    if (stat((directory_.path() + "/teson.db").c_str(), &info) != 0) return std::nullopt;
    return std::pair(info.st_dev, info.st_ino);
  }

  void health(http::Request request, http::Reply reply) {
    loop_->ask([request = std::move(request), reply = std::move(reply)](const Controller& controller) {
      nlohmann::json body{{"status", controller.trouble().empty() ? "ok" : "degraded"}, {"version", kVersion}};
      if (!controller.trouble().empty()) body["detail"] = controller.trouble();
      reply(http::json_response(request, body.dump()));
    });
  }

  DataDirectory directory_;
  Config config_;
  LinuxHostProbe probe_;
  bool announced_ = false;  // server.json is written
  bool held_ = false;
  Instant next_sweep_;
  std::optional<std::pair<dev_t, ino_t>> journal_identity_;
  std::unique_ptr<users::UserRegistry> users_;
  std::unique_ptr<Accounts> accounts_;
  std::shared_ptr<http::Tls> tls_;  // null: plain HTTP
  std::unique_ptr<SqliteJournal> journal_;
  std::unique_ptr<SystemClock> clock_;
  std::unique_ptr<LocalLauncher> launcher_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<AuditLog> audit_;  // before all that answer requests
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<SqliteLogStore> log_store_;
  std::unique_ptr<batch::BatchApi> batch_;
  std::unique_ptr<logs::LogsApi> logs_;
  std::unique_ptr<users::UsersApi> users_api_;
  std::unique_ptr<http::Authenticator> authenticator_;
  std::unique_ptr<http::Router> router_;
  http::FunctionHandler health_{
      [this](http::Request request, http::Reply reply) { health(std::move(request), std::move(reply)); }};
  std::unique_ptr<metrics::MetricsApi> metrics_;
  std::unique_ptr<overview::OverviewApi> overview_;
  std::unique_ptr<http::Server> http_;
};

void set_up_logging(const std::string& level) {
  auto logger = spdlog::stderr_logger_mt("teson");
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

sigset_t block_ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal_number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return set;
}

int failed(const Error& error) {
  fmt::print(stderr, "teson serve: {}\n", error.message);
  return 1;
}

}  // namespace

int serve(const ServeOptions& options) {
  umask(077);
  auto config = effective_config(options);
  if (!config) return failed(config.error());
  const auto address = permitted_address(*config, options.allow_public);
  if (!address) return failed(address.error());
  set_up_logging(config->log_level);
  // Before any thread exists, so that every thread inherits the mask and only sigtimedwait below sees them.
  const sigset_t ending = block_ending_signals();
  raise_descriptor_limit();

  auto directory = open_data_directory(options.data);
  if (!directory) return failed(directory.error());
  Service service(std::move(*directory), std::move(*config));
  if (auto status = service.start(*address); !status) return failed(status.error());
  if (!options.missing_limits.empty()) spdlog::warn("attempts here have: {}", options.missing_limits);

  constexpr timespec kSecond{1, 0};
  int signal_number = 0;
  while ((signal_number = sigtimedwait(&ending, nullptr, &kSecond)) < 0 ||
         (signal_number == SIGHUP && service.renew_certificate())) {
    if (const Status well = service.tend(); !well) {
      spdlog::critical("{}", well.error().message);
      return 1;  // the service is stopped as it goes out of scope
    }
  }
  spdlog::info("{}: stopping; running jobs carry on", strsignal(signal_number));
  service.stop();
  return 0;
}

}  // namespace teson
