#include "cli/log_list.h"

#include <algorithm>

#include "cli/log_rows.h"
#include "cli/printable.h"
#include "cli/progress.h"
#include "cli/short_text.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::cli {
namespace {

// Rows that are in memory at a time.
constexpr int64_t kPageRows = 500;

// Behind a figure that says nothing of a real processor.
const char* EmulatedMark(const nlohmann::json& row) {
  return row["emulated"].get<bool>() ? "  (emulated)" : "";
}

std::string RecordText(const nlohmann::json& record) {
  const auto retracted = Printable(record["retracted"].get<std::string>());
  return fmt::format("{:>7} {:<9} {:<14} {:>12}  {:<32} {:<14} {:<8}  {}{}{}",
                     record["id"].get<int64_t>(), record["purpose"].get<std::string>(),
                     record["outcome"].get<std::string>(),
                     FormatNs(record["median_us"].get<double>() * 1e3),
                     ShortKernel(record["workload"].get<std::string>()),
                     ShortTarget(record["target"].get<std::string>()),
                     ShortDevice(record["device"].get<std::string>()),
                     Printable(record["config"].get<std::string>()), EmulatedMark(record),
                     retracted.empty() ? "" : fmt::format("  (retracted: {})", retracted));
}

std::string FinalText(const nlohmann::json& best) {
  return fmt::format(
      "{:>12} {:>6.2f}x of default, {} trials, {} on {}  {}{}\n    {}",
      FormatNs(best["best_us"].get<double>() * 1e3), best["ratio_to_default"].get<double>(),
      best["trials"].get<int64_t>(), ShortTarget(best["target"].get<std::string>()),
      ShortDevice(best["device"].get<std::string>()), Printable(best["config"].get<std::string>()),
      EmulatedMark(best), Printable(best["workload"].get<std::string>()));
}

// Page after page; `ask` answers a request, whose rows `write` writes and counts.
template <typename Request, typename Ask, typename WriteRows>
absl::Status WritePages(Request request, const LogPages& pages, RowWriter& writer, const Ask& ask,
                        const WriteRows& write) {
  request.set_page_token(pages.after);
  int64_t left = pages.limit;
  for (;;) {
    request.set_page_size(static_cast<uint32_t>(left == 0 ? kPageRows : std::min(left, kPageRows)));
    HONE_ASSIGN_OR_RETURN(const auto page, ask(request));
    HONE_ASSIGN_OR_RETURN(const int64_t rows, write(page));
    request.set_page_token(page.next_page_token());
    const bool is_through = page.next_page_token().empty() || (left != 0 && left <= rows);
    left -= left == 0 ? 0 : rows;
    if (!is_through) continue;
    writer.Finish({{"next", page.next_page_token()}});
    return absl::OkStatus();
  }
}

}  // namespace

absl::Status PrintRecords(LogSource& log, v1::ListRecordsRequest request, const LogPages& pages,
                          Format format) {
  RowWriter writer(
      format, "records",
      {"id", "time", "purpose", "outcome", "median_us", "error_ratio", "workload", "target",
       "emulated", "signature", "config", "message", "device", "toolchain", "regime", "job",
       "worker", "retracted"},
      fmt::format("{:>7} {:<9} {:<14} {:>12}  {:<32} {:<14} {:<8}  {}", "id", "purpose", "outcome",
                  "median", "kernel", "target", "device", "config"),
      RecordText);
  return WritePages(
      std::move(request), pages, writer,
      [&](const v1::ListRecordsRequest& asked) { return log.ListRecords(asked); },
      [&](const v1::ListRecordsResponse& page) -> absl::StatusOr<int64_t> {
        for (const v1::RecordInfo& record : page.records()) writer.Write(ToJson(record));
        return page.records_size();
      });
}

absl::Status PrintFinals(LogSource& log, v1::ListFinalsRequest request, const LogPages& pages,
                         Format format) {
  RowWriter writer(format, "best",
                   {"id", "time", "best_us", "default_us", "ratio_to_default", "tuned", "trials",
                    "space", "workload", "target", "emulated", "signature", "config", "nest_digest",
                    "artifact_digest", "device", "toolchain", "job", "record"},
                   "", FinalText);
  return WritePages(
      std::move(request), pages, writer,
      [&](const v1::ListFinalsRequest& asked) { return log.ListFinals(asked); },
      [&](const v1::ListFinalsResponse& page) -> absl::StatusOr<int64_t> {
        for (const v1::FinalInfo& final : page.finals()) {
          HONE_ASSIGN_OR_RETURN(const nlohmann::json row, ToJson(final));
          writer.Write(row);
        }
        return page.finals_size();
      });
}

}  // namespace hone::cli
