// The members of an aggregate, without a list of them: a test that compares or fills every member this way notices a
// field that was added to a domain value and forgotten in fields.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace teson::codec::reflection {

struct Anything {
  template <class T>
  operator T() const;  // never defined: only for counting
};

template <class T, class... Args>
constexpr size_t count_members() {
  if constexpr (requires { T{Args{}..., Anything{}}; }) {
    return count_members<T, Args..., Anything>();
  } else {
    return sizeof...(Args);
  }
}

// clang-format off
template <class T, class F>
void for_each_member(T& x, F f) {
  constexpr size_t n = count_members<std::remove_const_t<T>>();
  static_assert(n <= 22, "one more line is needed here");
  const auto each = [&f](auto&... members) { (f(members), ...); };
  if constexpr (n == 0) { }
  else if constexpr (n == 1) { auto& [a] = x; each(a); }
  else if constexpr (n == 2) { auto& [a, b] = x; each(a, b); }
  else if constexpr (n == 3) { auto& [a, b, c] = x; each(a, b, c); }
  else if constexpr (n == 4) { auto& [a, b, c, d] = x; each(a, b, c, d); }
  else if constexpr (n == 5) { auto& [a, b, c, d, e] = x; each(a, b, c, d, e); }
  else if constexpr (n == 6) { auto& [a, b, c, d, e, g] = x; each(a, b, c, d, e, g); }
  else if constexpr (n == 7) { auto& [a, b, c, d, e, g, h] = x; each(a, b, c, d, e, g, h); }
  else if constexpr (n == 8) { auto& [a, b, c, d, e, g, h, i] = x; each(a, b, c, d, e, g, h, i); }
  else if constexpr (n == 9) { auto& [a, b, c, d, e, g, h, i, j] = x; each(a, b, c, d, e, g, h, i, j); }
  else if constexpr (n == 10) { auto& [a, b, c, d, e, g, h, i, j, k] = x; each(a, b, c, d, e, g, h, i, j, k); }
  else if constexpr (n == 11) { auto& [a, b, c, d, e, g, h, i, j, k, l] = x; each(a, b, c, d, e, g, h, i, j, k, l); }
  else if constexpr (n == 12) { auto& [a, b, c, d, e, g, h, i, j, k, l, m] = x; each(a, b, c, d, e, g, h, i, j, k, l, m); }
  else if constexpr (n == 13) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o); }
  else if constexpr (n == 14) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p); }
  else if constexpr (n == 15) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q); }
  else if constexpr (n == 16) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r); }
  else if constexpr (n == 17) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s); }
  else if constexpr (n == 18) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t); }
  else if constexpr (n == 19) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u); }
  else if constexpr (n == 20) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v); }
  else if constexpr (n == 21) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v, w] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v, w); }
  else { auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v, w, y] = x; each(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v, w, y); }
}
// clang-format on

// A text that says everything about a value: integers in decimal, strings with their length.
// All are declared first: members of std types are not found by their namespace.
template <class T>
void describe(std::string& out, const T& x);
inline void describe(std::string& out, const std::string& x) { out += std::to_string(x.size()) + ':' + x; }
template <class T>
void describe(std::string& out, const std::optional<T>& x);
template <class T>
void describe(std::string& out, const std::vector<T>& x);
template <class T>
void describe(std::string& out, const std::set<T>& x);
template <class A, class B>
void describe(std::string& out, const std::pair<A, B>& x);
template <class A, class B>
void describe(std::string& out, const std::map<A, B>& x);
template <class... Ts>
void describe(std::string& out, const std::variant<Ts...>& x);

template <class T>
void describe_list(std::string& out, const T& list) {
  out += '[';
  for (const auto& item : list) describe(out, item);
  out += ']';
}
template <class T>
void describe(std::string& out, const std::optional<T>& x) {
  out += x ? "some " : "none ";
  if (x) describe(out, *x);
}
template <class T>
void describe(std::string& out, const std::vector<T>& x) {
  describe_list(out, x);
}
template <class T>
void describe(std::string& out, const std::set<T>& x) {
  describe_list(out, x);
}
template <class A, class B>
void describe(std::string& out, const std::pair<A, B>& x) {
  describe(out, x.first);
  describe(out, x.second);
}
template <class A, class B>
void describe(std::string& out, const std::map<A, B>& x) {
  describe_list(out, x);
}
template <class... Ts>
void describe(std::string& out, const std::variant<Ts...>& x) {
  out += '#' + std::to_string(x.index()) + ' ';
  std::visit([&out](const auto& alternative) { describe(out, alternative); }, x);
}

template <class T>
void describe(std::string& out, const T& x) {
  if constexpr (std::is_enum_v<T>) {
    out += std::to_string(static_cast<int>(x)) + ' ';
  } else if constexpr (std::is_integral_v<T>) {
    out += std::to_string(x) + ' ';
  } else {
    out += '{';
    for_each_member(x, [&out](const auto& member) { describe(out, member); });
    out += '}';
  }
}

template <class T>
std::string described(const T& x) {
  std::string out;
  describe(out, x);
  return out;
}

}  // namespace teson::codec::reflection
