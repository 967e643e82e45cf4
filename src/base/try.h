// Early return for Result<T>: takes the value, or hands the error to the caller.
//
//   TESON_TRY(const std::string name, required_string(body, "jobName"));
//   TESON_TRY_STATUS(check_tags(tags));
#pragma once

#include <expected>
#include <utility>

// NOLINTBEGIN(bugprone-macro-parentheses): what is declared cannot stand in parentheses.
#define TESON_TRY_JOIN_(a, b) a##b
#define TESON_TRY_NAME_(a, b) TESON_TRY_JOIN_(a, b)
#define TESON_TRY_AS_(temporary, declaration, expression)               \
  auto temporary = (expression);                                        \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  declaration = *std::move(temporary)

#define TESON_TRY(declaration, expression) TESON_TRY_AS_(TESON_TRY_NAME_(teson_try_, __LINE__), declaration, expression)
#define TESON_TRY_STATUS(expression)                           \
  do {                                                         \
    if (auto teson_status = (expression); !teson_status) {     \
      return std::unexpected(std::move(teson_status).error()); \
    }                                                          \
  } while (false)
// NOLINTEND(bugprone-macro-parentheses)
