// teson(1), made from the declared commands as --help and the completions are, so that none of them is forgotten.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace teson::cli {

// In the man macros [groff_man(7)].
std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace teson::cli
