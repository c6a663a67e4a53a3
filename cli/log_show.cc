#include "cli/log_show.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "cli/json_document.h"
#include "cli/log_rows.h"
#include "cli/printable.h"
#include "cli/progress.h"
#include "fmt/format.h"
#include "tuner/input_seed.h"

namespace hone::cli {
namespace {

void PrintField(std::string_view name, const std::string& value) {
  fmt::print("{:<15} {}\n", name, value.empty() ? "-" : Printable(value));
}

std::string TimeOf(int64_t wall_ns) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixNanos(wall_ns),
                          absl::UTCTimeZone());
}

std::string SomeNs(double ns) { return ns > 0 ? FormatNs(ns) : ""; }

std::string SomeId(int64_t id) { return id != 0 ? fmt::to_string(id) : ""; }

void PrintText(const v1::GetRecordResponse& detail) {
  const v1::RecordInfo& record = detail.record();
  PrintField("record", fmt::to_string(record.id()));
  PrintField("outcome", record.outcome());
  if (!record.message().empty()) PrintField("message", record.message());
  if (!record.retracted().empty()) PrintField("retracted", record.retracted());
  PrintField("median", SomeNs(record.median_ns()));
  std::string samples;
  for (const double sample_ns : detail.samples_ns()) samples += FormatNs(sample_ns) + "  ";
  PrintField("samples", samples);
  PrintField("anchor", SomeNs(detail.anchor_ns()));
  PrintField("calibrator", SomeNs(record.calibrator_ns()));
  PrintField("error ratio", fmt::format("{:.3g}", record.error_ratio()));
  PrintField("purpose", record.purpose());
  PrintField("time", TimeOf(record.wall_time_ns()));
  fmt::print("\n");
  PrintField("workload", record.workload());
  PrintField("workload digest", detail.workload_digest());
  PrintField("anchor digest", detail.anchor_digest());
  PrintField("target", record.target());
  PrintField("signature", record.signature());
  PrintField("config", record.config());
  PrintField("config digest", detail.config_digest());
  PrintField("nest digest", record.nest_digest());
  PrintField("artifact digest", record.artifact_digest());
  PrintField("toolchain", record.toolchain());
  fmt::print("\n");
  PrintField("worker", record.worker());
  PrintField("device", record.device());
  PrintField("regime", record.regime());
  PrintField("inputs", fmt::format("of the seed {}", tuner::kInputSeed));
  PrintField("constants", detail.constant_bytes() != 0
                              ? fmt::format("{} bytes in the job's model", detail.constant_bytes())
                              : "");
  PrintField("job", SomeId(record.job()));
  PrintField("trial", fmt::format("{}, round {}, attempt {}", detail.trial(), detail.round(),
                                  detail.attempt()));
  PrintField("final", SomeId(detail.final()));
}

void PrintRebuilt(const nlohmann::json& rebuilt) {
  fmt::print("\n");
  const std::string digest = rebuilt["artifact_digest"].get<std::string>();
  const char* const found = digest.empty() ? "no artifact" : "another artifact";
  PrintField("rebuilt", rebuilt["same"].get<bool>() ? "the same artifact" : found);
  if (!rebuilt["message"].get<std::string>().empty()) {
    PrintField("message", rebuilt["message"].get<std::string>());
  }
  PrintField("artifact digest", digest);
  PrintField("toolchain", rebuilt["toolchain"].get<std::string>());
}

// The new figures beside the old. Times of two runs compare as far as the calibrator's do.
void PrintRerun(const v1::RecordInfo& record, const nlohmann::json& rerun) {
  const double median_ns = rerun["median_us"].get<double>() * 1e3;
  const double calibrator_ns = rerun["calibrator_us"].get<double>() * 1e3;
  fmt::print("\n");
  PrintField("measured again", rerun["outcome"].get<std::string>());
  if (!rerun["message"].get<std::string>().empty()) {
    PrintField("message", rerun["message"].get<std::string>());
  }
  const auto beside = [](double now_ns, double then_ns) {
    if (!(now_ns > 0) || !(then_ns > 0)) return SomeNs(now_ns);
    return fmt::format("{}, {:.3f} of the {} then", FormatNs(now_ns), now_ns / then_ns,
                       FormatNs(then_ns));
  };
  PrintField("median", beside(median_ns, record.median_ns()));
  PrintField("calibrator", beside(calibrator_ns, record.calibrator_ns()));
  PrintField("device", rerun["same_device"].get<bool>()
                           ? "the same"
                           : "another: " + rerun["device"].get<std::string>());
  PrintField("toolchain", rerun["toolchain"].get<std::string>());
}

}  // namespace

void PrintRecord(const v1::GetRecordResponse& record, Format format,
                 const nlohmann::json& repeated) {
  if (format == Format::kText) {
    PrintText(record);
    if (repeated.contains("rebuilt")) PrintRebuilt(repeated["rebuilt"]);
    if (repeated.contains("rerun")) PrintRerun(record.record(), repeated["rerun"]);
    return;
  }
  nlohmann::json row = ToJson(record);
  row.update(repeated);
  if (format == Format::kJson) {
    PrintDocument({{"schema", 1}, {"record", std::move(row)}});
    return;
  }
  std::vector<std::string> columns;
  for (const auto& [name, value] : row.items()) columns.push_back(name);
  RowWriter writer(format, "record", columns, "", nullptr);
  writer.Write(row);
  writer.Finish();
}

}  // namespace hone::cli
