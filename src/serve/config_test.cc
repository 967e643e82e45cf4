#include "serve/config.h"

#include <gtest/gtest.h>

namespace teson {
namespace {

TEST(Config, EmptyTextGivesTheDefaults) {
  const auto config = parse_config("");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->listen, "127.0.0.1:8790");
  EXPECT_EQ(config->instance_idle, Duration::seconds(60));
  EXPECT_FALSE(config->host_milli_vcpus);
}

TEST(Config, EverySettingIsRead) {
  const auto config = parse_config(R"(
listen: "[::1]:9000"
region: eu-west-1
account_id: "000000000001"
log_level: debug
host: {vcpus: 2.5, memory_mib: 4096, gpus: 1}
images:
  - {pattern: "*.dkr.ecr.*.amazonaws.com/train:*", runtime: process}
instance_idle_seconds: 5
keep_work: failed
preemption: false
retries: {interruptions_use_attempts: false}
disk_reserve_mib: 10
metrics_without_key: true
accounts: required
system_accounts: [games, nobody]
tls: {certificate: c.pem, key: k.pem}
catalogue: prices.csv
)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->listen, "[::1]:9000");
  EXPECT_EQ(config->region, "eu-west-1");
  EXPECT_EQ(config->account_id, "000000000001");
  EXPECT_EQ(config->log_level, "debug");
  EXPECT_EQ(config->host_milli_vcpus, 2500);
  EXPECT_EQ(config->host_memory_mib, 4096);
  EXPECT_EQ(config->host_gpus, 1);
  ASSERT_EQ(config->images.size(), 1u);
  EXPECT_EQ(config->images[0].pattern, "*.dkr.ecr.*.amazonaws.com/train:*");
  EXPECT_EQ(config->instance_idle, Duration::seconds(5));
  EXPECT_EQ(config->keep_work, KeepWork::kFailed);
  EXPECT_FALSE(config->interruptions_use_attempts);
  EXPECT_FALSE(config->preemption);
  EXPECT_EQ(config->disk_reserve_mib, 10);
  EXPECT_TRUE(config->metrics_without_key);
  EXPECT_EQ(config->catalogue, "prices.csv");
  EXPECT_EQ(config->accounts.rule, AccountRule::kRequired);
  EXPECT_EQ(config->accounts.system_accounts, (std::vector<std::string>{"games", "nobody"}));
  EXPECT_EQ(config->tls_certificate, "c.pem");
  EXPECT_EQ(config->tls_key, "k.pem");
}

TEST(Config, AnErrorNamesTheLineTheKeyAndWhatWouldBeRight) {
  const std::pair<const char*, const char*> cases[] = {
      {"region: us-east-1\nlissten: x\n", "line 2: unknown setting 'lissten'; known are account_id"},
      {"host: {vcpu: 1}", "line 1: unknown setting 'host.vcpu'; known are host.gpus, host.memory_mib, host.vcpus"},
      {"host: 3", "line 1: host: a map of settings is expected"},
      {"host: {vcpus: many}", "host.vcpus: 'many' is not a number of vCPUs from 0.1 to 4096"},
      {"host: {memory_mib: 3}", "host.memory_mib: '3' is not a whole number from 4 to"},
      {"host: {gpus: 1.5}", "host.gpus: '1.5' is not a whole number from 0 to 64"},
      {"log_level: loud", "log_level: 'loud' is not one of trace, debug, info, warning, error"},
      {"accounts: some", "accounts: 'some' is not one of auto, required, off"},
      {"system_accounts: games", "system_accounts: a list of Unix accounts is expected"},
      {"tls: {key: k.pem}", "tls: both certificate and key are needed"},
      {"account_id: 12", "account_id: '12' is not an account number of twelve digits"},
      {"region: 'a b'", "region: 'a b' is not a region name"},
      {"listen: nowhere", "listen: 'nowhere' is not ADDRESS:PORT"},
      {"images: [{pattern: a}]", "images: each entry has exactly a pattern and a runtime"},
      {"images: [{pattern: a, runtime: docker}]", "runtime 'docker' is not known"},
      {"keep_work: some", "keep_work: 'some' is not one of all, failed, none"},
      {"retries: {interruptions_use_attempts: perhaps}",
       "retries.interruptions_use_attempts: true or false is expected"},
      {"instance_idle_seconds: -1", "instance_idle_seconds: '-1' is not a whole number from 0 to 86400"},
      {"region: [a]", "region: one value is expected, not a list or a map"},
      {"a: [", "not YAML"},
  };
  for (const auto& [yaml, message] : cases) {
    const auto config = parse_config(yaml);
    ASSERT_FALSE(config) << yaml;
    EXPECT_NE(config.error().message.find(message), std::string::npos) << config.error().message;
  }
}

TEST(Config, AbsentFileIsNamed) {
  const auto config = load_config("/nonexistent/teson.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, "open configuration file '/nonexistent/teson.yaml': No such file or directory");
}

TEST(Listen, AddressesAreTakenApart) {
  EXPECT_EQ(parse_listen("127.0.0.1:80")->port, 80);
  EXPECT_TRUE(parse_listen("localhost:0")->loopback);
  EXPECT_EQ(parse_listen("[::1]:8790")->host, "::1");
  EXPECT_TRUE(parse_listen("[::1]:8790")->loopback);
  EXPECT_FALSE(parse_listen("0.0.0.0:8790")->loopback);
  EXPECT_FALSE(parse_listen("[::]:8790")->loopback);
  for (const char* text : {"", ":", ":80", "host", "host:", "host:70000", "host:8x", "::1:80", "[::1:80", "1]:80"}) {
    EXPECT_FALSE(parse_listen(text)) << text;
  }
}

}  // namespace
}  // namespace teson
