#include "cli/commands/commands.h"

namespace teson::cli {
namespace {

struct Options {
  std::string listen;
  std::string config;
  std::string tls_certificate, tls_key;
  bool allow_public = false;
};

Outcome<int> run_serve(const Context& context, const Options& options) {
  if (!context.global.endpoint.empty())
    return usage("serve: --endpoint names a server elsewhere; use --listen ADDRESS:PORT");
  const auto data = data_directory(context.global);
  if (!data) return std::unexpected(data.error());
  ServeFlags flags;
  flags.data = *data;
  flags.listen = options.listen.empty() ? environment_value("TESON_LISTEN") : options.listen;
  flags.config = options.config.empty() ? environment_value("TESON_CONFIG") : options.config;
  flags.tls_certificate = options.tls_certificate;
  flags.tls_key = options.tls_key;
  flags.allow_public = options.allow_public;
  return context.hooks.serve(flags);
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("serve", "Run the server for a data directory");
  auto options = std::make_shared<Options>();
  command
      ->add_option("--listen", options->listen, "Address and port to listen on (default 127.0.0.1:8790; $TESON_LISTEN)")
      ->type_name("ADDRESS:PORT");
  command->add_option("--config", options->config, "Configuration file, YAML ($TESON_CONFIG)")->type_name("FILE");
  command->add_option("--tls-certificate", options->tls_certificate, "Serve HTTPS: the certificate chain, PEM")
      ->type_name("FILE");
  command->add_option("--tls-key", options->tls_key, "The certificate's key, PEM without a passphrase")
      ->type_name("FILE");
  command->add_flag("--allow-public", options->allow_public,
                    "Permit an address that other machines reach, though requests travel without TLS");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_serve(context, *options); }; });
}

}  // namespace teson::cli
