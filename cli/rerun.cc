#include "cli/rerun.h"

#include <unistd.h>

#include <fstream>
#include <utility>
#include <vector>

#include "cli/device_here.h"
#include "cli/local_builder.h"
#include "cli/printable.h"
#include "cli/rebuild.h"
#include "compiler/ir/target.h"
#include "fmt/format.h"
#include "hone/v1/farm.pb.h"
#include "nlohmann/json.hpp"
#include "runtime/host.h"
#include "runtime/target_text.h"
#include "support/child_process.h"
#include "support/median.h"
#include "support/scratch_folder.h"
#include "support/status.h"
#include "tuner/compiler_lowerer.h"
#include "tuner/farm/assignment.h"
#include "tuner/input_seed.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/regime.h"
#include "tuner/measure_record.h"
#include "tuner/trial_timing.h"

namespace hone::cli {
namespace {

// For what is around the runs: to start, to calibrate, to run the reference.
constexpr int64_t kSlackNs = 60'000'000'000;

absl::StatusOr<tuner::Artifact> ArtifactOf(const std::string& what, v1::BuildReply reply) {
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) {
    return absl::AbortedError(
        fmt::format("expected that {} builds, found: {}", what, Printable(reply.message())));
  }
  return tuner::Artifact{
      .digest = reply.artifact_digest(),
      .bytes = std::make_shared<const std::string>(std::move(*reply.mutable_artifact())),
      .toolchain = reply.toolchain()};
}

// The target of the machine that the device is in, where references run: that of a CPU is its own.
std::string HostTargetFor(const std::string& target) {
  return KindOf(target) == "llvm" ? target : HostTargetText(1);
}

// The flags of a hone-measure that measures for the target here.
absl::StatusOr<std::vector<std::string>> PlaceOf(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(text));
  if (target.AsCpu() != nullptr) {
    if (const std::string missing = MissingOnHost(text); !missing.empty()) {
      return absl::FailedPreconditionError(
          fmt::format("expected a machine that runs code for {}, found this one: no {}",
                      Printable(text), missing));
    }
    return WorkerFlags("", target);
  }
  const absl::StatusOr<std::string> device = DeviceHere(target);
  if (!device.ok())
    return absl::FailedPreconditionError(Printable(std::string(device.status().message())));
  return WorkerFlags(*device, target);
}

// As the daemon asks for a trial of a search, without an anchor.
absl::StatusOr<tuner::MeasureRequest> RequestFor(const v1::GetRecordResponse& detail) {
  const v1::RecordInfo& record = detail.record();
  tuner::CompilerLowerer lowerer;
  HONE_ASSIGN_OR_RETURN(const auto task,
                        lowerer.Open(record.workload(), record.signature(), record.target()));
  v1::BuildRequest reference;
  reference.set_target(HostTargetFor(record.target()));
  reference.mutable_reference()->set_workload(record.workload());
  HONE_ASSIGN_OR_RETURN(std::vector<v1::BuildReply> built,
                        BuildHere({BuildRequestOf(record), std::move(reference)}));
  tuner::MeasureRequest request;
  HONE_ASSIGN_OR_RETURN(
      request.candidates.emplace_back(),
      ArtifactOf(fmt::format("the config of record {}", record.id()), std::move(built[0])));
  HONE_ASSIGN_OR_RETURN(request.reference,
                        ArtifactOf("what its outputs are compared with", std::move(built[1])));
  request.workload_digest = detail.workload_digest();
  request.seed = tuner::kInputSeed;
  request.threads = static_cast<uint32_t>(task->threads());
  const std::string regime =
      record.regime().empty() ? tuner::RegimeOf(*task, detail.constant_bytes()) : record.regime();
  request.timing =
      tuner::TrialTiming(regime, tuner::RotationBytes(regime, *task, detail.constant_bytes()));
  const tuner::TuningOptions of_daemons;
  request.run_limit_ns = of_daemons.run_limit_ns;
  request.memory_limit_bytes = of_daemons.memory_limit_bytes;
  return request;
}

v1::OneMeasurement MeasurementOf(const tuner::MeasureRequest& request) {
  v1::OneMeasurement measurement;
  tuning_db::Trial leased;
  leased.id = leased.fence = leased.attempt = 1;
  *measurement.mutable_assignment() =
      tuner::ToAssignment(request, leased, "cpu0", tuner::LeaseLimitNs(request, kSlackNs));
  measurement.add_artifacts(*request.candidates[0].bytes);
  measurement.add_artifacts(*request.reference.bytes);
  return measurement;
}

// What hone-measure printed of it.
absl::StatusOr<Rerun> Parse(const std::string& line) {
  const nlohmann::json result = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  v1::MeasureOutcome outcome = v1::MEASURE_OUTCOME_UNSPECIFIED;
  const bool is_result = result.is_object() && result.contains("samples_ns") &&
                         v1::MeasureOutcome_Parse(result.value("outcome", ""), &outcome);
  if (!is_result) {
    return absl::InternalError("hone-measure printed no result, but: " + Printable(line));
  }
  Rerun rerun;
  rerun.outcome = std::string(tuning_db::Name(tuner::ToOutcome(outcome)));
  rerun.message = result.value("message", "");
  rerun.error_ratio = result["error_ratio"].is_number() ? result["error_ratio"].get<double>() : 0;
  rerun.regime = result.value("regime", "");
  rerun.device = result.value("device", "");
  const auto median = [&](const char* name) {
    const auto values = result[name].get<std::vector<double>>();
    return values.empty() ? 0.0 : Median(values);
  };
  if (outcome == v1::MEASURE_OUTCOME_OK) {
    rerun.median_ns = median("samples_ns");
    rerun.calibrator_ns = median("calibrator_ns");
  }
  return rerun;
}

}  // namespace

absl::StatusOr<Rerun> MeasureAgain(const v1::GetRecordResponse& record) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> place, PlaceOf(record.record().target()));
  HONE_ASSIGN_OR_RETURN(const tuner::MeasureRequest request, RequestFor(record));
  HONE_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::MakeForNow("hone-rerun-"));
  const std::string path = folder.path() + "/measurement";
  std::ofstream file(path, std::ios::binary);
  if (!MeasurementOf(request).SerializeToOstream(&file) || !file.flush()) {
    return absl::InternalError(fmt::format("cannot write {}", path));
  }
  std::vector<std::string> command = {ExecutableFolder() + "/hone-measure",
                                      "--measure",
                                      path,
                                      "--parent-death-signal",
                                      "--parent",
                                      std::to_string(getpid())};
  command.insert(command.end(), place.begin(), place.end());
  HONE_ASSIGN_OR_RETURN(ChildProcess worker, ChildProcess::Start(command));
  const absl::StatusOr<std::string> line =
      worker.ReadLine(tuner::LeaseLimitNs(request, 2 * kSlackNs));
  if (!line.ok()) {
    return absl::AbortedError("hone-measure measured nothing; its own message is above");
  }
  HONE_ASSIGN_OR_RETURN(Rerun rerun, Parse(*line));
  rerun.toolchain = request.candidates[0].toolchain;
  return rerun;
}

}  // namespace hone::cli
