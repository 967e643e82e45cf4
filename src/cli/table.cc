#include "cli/table.h"

#include <algorithm>

#include "base/check.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastLastColumn = 12;

void append_cell(std::string& line, const std::string& cell, size_t width, Align align, bool last) {
  const size_t used = display_width(cell);
  const std::string blanks(width > used ? width - used : 0, ' ');
  if (align == Align::kRight) line += blanks;
  line += cell;
  if (last) return;
  if (align == Align::kLeft) line += blanks;
  line.append(kGap, ' ');
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  TESON_CHECK(!columns_.empty(), "a table needs a column");
}

void Table::add(std::vector<std::string> cells) {
  TESON_CHECK(cells.size() <= columns_.size(), "more cells than columns");
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = cell.empty() ? "-" : printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::render(size_t max_width) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  const size_t last = columns_.size() - 1;
  size_t before_last = 0;
  for (size_t c = 0; c < last; ++c) before_last += widths[c] + kGap;
  if (max_width > 0) {
    const size_t room = max_width > before_last ? max_width - before_last : 0;
    widths[last] = std::min(widths[last], std::max(room, kLeastLastColumn));
  }

  std::string out;
  const auto line = [&](const auto& cell_at) {
    std::string text;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = c == last ? cut_to_width(cell_at(c), widths[c]) : cell_at(c);
      append_cell(text, cell, widths[c], columns_[c].align, c == last);
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + "\n";
  };
  line([&](size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) line([&](size_t c) { return row[c]; });
  return out;
}

}  // namespace teson::cli
