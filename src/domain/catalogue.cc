#include "domain/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace teson {

std::string_view builtin_catalogue_csv();  // made by the build out of data/instance_catalogue.csv

namespace {

constexpr std::string_view kRequired[] = {"instance_type", "vcpus", "memory_gib"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A non-negative decimal in millionths, rounded half up at the seventh place: "0.1496" is 149600.
std::optional<int64_t> parse_millionths(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  const auto digits = [](std::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (whole.empty() || whole.size() > 12 || !digits(whole) || !digits(fraction)) return std::nullopt;
  if (point != std::string_view::npos && fraction.empty()) return std::nullopt;
  int64_t value = 0;
  for (const char c : whole) value = value * 10 + (c - '0');
  for (size_t i = 0; i < 6; ++i) value = value * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  if (fraction.size() > 6 && fraction[6] >= '5') ++value;
  return value;
}

bool counts_as_gpu(std::string_view accelerator) {
  return !accelerator.empty() && !accelerator.starts_with("inferentia") && !accelerator.starts_with("trainium") &&
         !accelerator.starts_with("Radeon");
}

class Row {
 public:
  Row(const std::map<std::string_view, size_t>& columns, std::vector<std::string_view> cells)
      : columns_(columns), cells_(std::move(cells)) {}

  std::string_view text(std::string_view column) const {
    const auto at = columns_.find(column);
    return at == columns_.end() ? std::string_view() : cells_[at->second];
  }
  Result<std::optional<int64_t>> millionths(std::string_view column) const {
    const std::string_view cell = text(column);
    if (cell.empty()) return std::nullopt;
    const auto value = parse_millionths(cell);
    if (!value) return invalid(fmt::format("{} is \"{}\": it must be a number such as 4 or 0.192", column, cell));
    return value;
  }

 private:
  const std::map<std::string_view, size_t>& columns_;
  std::vector<std::string_view> cells_;
};

Result<CatalogueEntry> parse_row(const Row& row) {
  CatalogueEntry entry;
  entry.type.name = row.text("instance_type");
  if (entry.type.name.empty()) return invalid("instance_type is empty");
  const auto vcpus = row.millionths("vcpus");
  const auto memory = row.millionths("memory_gib");
  const auto on_demand = row.millionths("on_demand_usd_hour");
  const auto spot = row.millionths("spot_usd_hour");
  const auto accelerators = row.millionths("accelerator_count");
  for (const auto* cell : {&vcpus, &memory, &on_demand, &spot, &accelerators}) {
    if (!*cell) return std::unexpected(cell->error());
  }
  if (vcpus->value_or(0) <= 0) return invalid("vcpus must be greater than 0");
  if (memory->value_or(0) <= 0) return invalid("memory_gib must be greater than 0");

  entry.type.size.milli_vcpus = **vcpus / 1'000;
  entry.type.size.memory_mib = **memory * 1'024 / 1'000'000;
  entry.accelerator = row.text("accelerator");
  entry.accelerators = static_cast<int>(accelerators->value_or(0) / 1'000'000);
  entry.type.size.gpus = counts_as_gpu(entry.accelerator) ? entry.accelerators : 0;
  entry.price_known = on_demand->has_value();
  entry.spot_price_known = spot->has_value();
  entry.type.on_demand_hour = Money{on_demand->value_or(0)};
  entry.type.spot_hour = Money{spot->value_or(on_demand->value_or(0))};
  entry.interruption_band = row.text("interruption_band");
  entry.source = row.text("source");
  return entry;
}

std::string_view family_of(std::string_view type) { return type.substr(0, type.find('.')); }

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

bool smaller_type(const InstanceType& a, const InstanceType& b) {
  return std::tie(a.size.milli_vcpus, a.size.memory_mib, a.size.gpus, a.name) <
         std::tie(b.size.milli_vcpus, b.size.memory_mib, b.size.gpus, b.name);
}

Result<InstanceCatalogue> InstanceCatalogue::parse(std::string_view csv) {
  InstanceCatalogue catalogue;
  std::map<std::string_view, size_t> columns;
  int line_number = 0;
  for (std::string_view line : split(csv, '\n')) {
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::vector<std::string_view> cells = split(line, ',');
    if (columns.empty()) {
      for (size_t i = 0; i < cells.size(); ++i) columns.emplace(cells[i], i);
      for (const std::string_view name : kRequired) {
        if (!columns.contains(name))
          return invalid(fmt::format("instance catalogue: the header line has no column {}", name));
      }
      continue;
    }
    if (cells.size() < columns.size())
      return invalid(fmt::format("instance catalogue line {}: {} cells, but the header has {}", line_number,
                                 cells.size(), columns.size()));
    auto entry = parse_row(Row(columns, std::move(cells)));
    if (!entry) return invalid(fmt::format("instance catalogue line {}: {}", line_number, entry.error().message));
    std::string name = entry->type.name;
    if (!catalogue.entries_.emplace(name, std::move(*entry)).second)
      return invalid(fmt::format("instance catalogue line {}: {} was given before", line_number, name));
  }
  if (columns.empty()) return invalid("instance catalogue: it is empty; the first line must name the columns");
  return catalogue;
}

InstanceCatalogue InstanceCatalogue::builtin() {
  auto catalogue = parse(builtin_catalogue_csv());
  TESON_CHECK(catalogue.has_value(), catalogue ? "" : catalogue.error().message);
  return std::move(*catalogue);
}

const CatalogueEntry* InstanceCatalogue::find(const std::string& type) const {
  const auto at = entries_.find(type);
  return at == entries_.end() ? nullptr : &at->second;
}

std::vector<const CatalogueEntry*> InstanceCatalogue::family(std::string_view name) const {
  std::vector<const CatalogueEntry*> found;
  for (const auto& [type, entry] : entries_) {
    if (type.find('.') != std::string::npos && family_of(type) == name) found.push_back(&entry);
  }
  std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return smaller_type(a->type, b->type); });
  return found;
}

std::vector<std::string> InstanceCatalogue::near(std::string_view name, size_t count) const {
  // A name without a size is meant as a family.
  const bool wants_family = name.find('.') == std::string_view::npos;
  std::set<std::pair<size_t, std::string>> ranked;
  for (const auto& [type, entry] : entries_) {
    const std::string_view candidate = wants_family ? family_of(type) : std::string_view(type);
    ranked.emplace(edit_distance(name, candidate), candidate);
  }
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : ranked) {
    if (names.size() == count) break;
    names.push_back(candidate);
  }
  return names;
}

}  // namespace teson
