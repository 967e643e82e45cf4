// Tables for people: columns as wide as their widest cell, two blanks between, no frame, so that lines can be cut and
// searched with ordinary tools.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace teson::cli {

enum class Align { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns);

  // Cells are made printable (cli/text.h); missing ones are shown as "-", too many abort.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // `max_width` 0: every cell whole; else the last column is cut so that lines fit, but never below 12 columns.
  std::string render(size_t max_width) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace teson::cli
