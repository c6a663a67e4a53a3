#include "cli/log_stats.h"

#include <array>
#include <utility>

#include "absl/time/time.h"
#include "cli/json_document.h"
#include "cli/log_rows.h"
#include "cli/printable.h"
#include "fmt/format.h"

namespace hone::cli {
namespace {

using Counts = google::protobuf::RepeatedPtrField<v1::LogCount>;

// The lists, with what a row of each is called where all of them are one list.
std::array<std::pair<const char*, const Counts*>, 5> ListsOf(const v1::GetLogStatsResponse& stats) {
  return {{{"outcome", &stats.outcomes()},
           {"purpose", &stats.purposes()},
           {"target", &stats.targets()},
           {"device", &stats.devices()},
           {"day", &stats.days()}}};
}

nlohmann::json CountJson(const v1::LogCount& count) {
  return {{"name", count.name()}, {"records", count.records()}, {"failures", count.failures()}};
}

std::string DayOf(int64_t wall_ns) {
  return absl::FormatTime("%Y-%m-%d", absl::FromUnixNanos(wall_ns), absl::UTCTimeZone());
}

void PrintText(const v1::GetLogStatsResponse& stats) {
  fmt::print("{} records, {} of them failures, of {} tasks; {} finals\n", stats.records(),
             stats.failures(), stats.tasks(), stats.finals());
  if (stats.records() == 0) return;
  fmt::print("from {} to {}\n", DayOf(stats.first_wall_ns()), DayOf(stats.last_wall_ns()));
  for (const auto& [what, counts] : ListsOf(stats)) {
    fmt::print("\n{:>10} {:>10}  {}\n", "records", "failures", what);
    for (const v1::LogCount& count : *counts) {
      fmt::print("{:>10} {:>10}  {}\n", count.records(), count.failures(), Printable(count.name()));
    }
  }
}

}  // namespace

void PrintStats(const v1::GetLogStatsResponse& stats, Format format) {
  if (format == Format::kText) return PrintText(stats);
  if (format == Format::kJson) {
    nlohmann::json document = TotalsToJson(stats);
    document["schema"] = 1;
    for (const auto& [what, counts] : ListsOf(stats)) {
      nlohmann::json list = nlohmann::json::array();
      for (const v1::LogCount& count : *counts) list.push_back(CountJson(count));
      document[std::string(what) + "s"] = std::move(list);
    }
    return PrintDocument(document);
  }
  RowWriter writer(format, "counts", {"by", "name", "records", "failures"}, "", nullptr);
  for (const auto& [what, counts] : ListsOf(stats)) {
    for (const v1::LogCount& count : *counts) {
      nlohmann::json row = CountJson(count);
      row["by"] = what;
      writer.Write(row);
    }
  }
  writer.Finish();
}

}  // namespace hone::cli
