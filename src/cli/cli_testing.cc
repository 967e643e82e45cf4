#include "cli/cli_testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/interrupt.h"

namespace teson::cli {

Cli::Cli() {
  char pattern[] = "/tmp/teson-cli-XXXXXX";
  data_ = ::mkdtemp(pattern);
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION",
                           "TESON_DATA", "TESON_ENDPOINT", "TESON_LISTEN", "TESON_CONFIG"}) {
    ::unsetenv(name);
  }
  forget_interrupt();
  hooks_.version = "9.8.7";
  hooks_.serve = [this](const ServeFlags& flags) {
    served_ = flags;
    return 7;
  };
}

Cli::~Cli() { std::filesystem::remove_all(data_); }

void Cli::attach(FakeBatch& batch) const {
  std::ofstream(data_ + "/server.json") << json_line(
      Json::object({{"endpoint", batch.server().endpoint()}, {"pid", ::getpid()}}));
  const std::string path = data_ + "/credentials";
  std::ofstream(path) << "[default]\naws_access_key_id = AKID\naws_secret_access_key = it's-secret\n";
  ::chmod(path.c_str(), 0600);
}

Ran Cli::run(std::vector<std::string> words) const {
  words.insert(words.begin(), {"teson", "--data", data_});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = cli_main(static_cast<int>(argv.size()), argv.data(), hooks_);
  std::fflush(stdout);
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

}  // namespace teson::cli
