// Shell completion scripts, made from the same tree as --help, so that they cannot drift from it.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace teson::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);

}  // namespace teson::cli
