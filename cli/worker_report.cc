#include "cli/worker_report.h"

#include <algorithm>
#include <map>
#include <string>

#include "cli/printable.h"
#include "cli/progress.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/target_text.h"

namespace hone::cli {
namespace {

std::string SandboxName(v1::SandboxLevel level) {
  static const std::map<v1::SandboxLevel, std::string> kNames = {
      {v1::SANDBOX_LEVEL_LIMITS, "limits"},
      {v1::SANDBOX_LEVEL_CONTAINED, "contained"},
      {v1::SANDBOX_LEVEL_STRICT, "strict"}};
  const auto it = kNames.find(level);
  return it != kNames.end() ? it->second : "unknown";
}

std::string KindName(v1::DeviceKind kind) {
  switch (kind) {
    case v1::DEVICE_KIND_CUDA:
      return "cuda";
    case v1::DEVICE_KIND_OPENCL:
      return "opencl";
    default:  // workers of protocol 2 do not say it
      return "cpu";
  }
}

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// A daemon of the release before says nothing of how devices fare.
v1::DeviceState StateOf(const v1::WorkerInfo& worker, int device) {
  return device < worker.device_states_size() ? worker.device_states(device) : v1::DeviceState();
}

std::string QuarantineOf(const v1::WorkerInfo& worker, const std::string& device) {
  const auto it = worker.quarantined().find(device);
  return it != worker.quarantined().end() ? it->second : "";
}

// Whether an operator put the device aside, or all of its worker.
bool IsPutAside(const v1::WorkerInfo& worker, const std::string& device) {
  return std::any_of(worker.quarantines().begin(), worker.quarantines().end(),
                     [&](const v1::Quarantine& quarantine) {
                       return quarantine.device().empty() || quarantine.device() == device;
                     });
}

// "quarantined" or "away" where none of its devices gets leases.
std::string StateOf(const v1::WorkerInfo& worker) {
  if (worker.draining()) return "draining";
  const bool is_away = worker.device_states_size() > 0 &&
                       std::all_of(worker.device_states().begin(), worker.device_states().end(),
                                   [](const v1::DeviceState& state) { return state.is_away(); });
  if (is_away) return "away";
  const auto is_quarantined = [&](const v1::Device& device) {
    return IsPutAside(worker, device.id()) || worker.quarantined().contains(device.id());
  };
  if (worker.devices_size() > 0 &&
      std::all_of(worker.devices().begin(), worker.devices().end(), is_quarantined)) {
    return "quarantined";
  }
  return worker.leased() > 0 ? "measuring" : "idle";
}

uint64_t SettledOf(const v1::DeviceTally& tally) {
  uint64_t settled = 0;
  for (const auto& [outcome, count] : tally.settled()) settled += count;
  return settled;
}

uint64_t FailuresOf(const v1::DeviceTally& tally) {
  const auto ok = tally.settled().find("ok");
  return SettledOf(tally) - (ok == tally.settled().end() ? 0 : ok->second);
}

double FailureRate(const v1::DeviceTally& tally) {
  const uint64_t settled = SettledOf(tally);
  return settled == 0 ? 0 : static_cast<double>(FailuresOf(tally)) / static_cast<double>(settled);
}

std::string StateOf(const v1::HeldLease& lease) {
  if (lease.is_settling()) return "settling";
  return lease.running_ns() > 0 ? "running" : "waiting";
}

nlohmann::json ToJson(const v1::HeldLease& lease) {
  return {{"fence", lease.fence()},
          {"trial", lease.trial()},
          {"job", lease.job()},
          {"task", lease.task()},
          {"attempt", lease.attempt()},
          {"state", StateOf(lease)},
          {"held_s", Seconds(lease.held_ns())},
          {"running_s", Seconds(lease.running_ns())},
          {"limit_s", Seconds(lease.limit_ns())}};
}

template <typename Calibrations>
nlohmann::json LoopsOf(const Calibrations& calibrations) {
  nlohmann::json loops = nlohmann::json::array();
  for (const v1::DeviceCalibration& calibration : calibrations) {
    loops.push_back({{"loop", calibration.loop()},
                     {"median_us", calibration.median_ns() * 1e-3},
                     {"spread", calibration.spread()}});
  }
  return loops;
}

nlohmann::json ToJson(const v1::CalibrationPoint& point) {
  return {{"ago_s", Seconds(point.ago_ns())},
          {"calibrator_us", point.calibrator_ns() * 1e-3},
          {"calibrations", LoopsOf(point.calibrations())}};
}

nlohmann::json ToJson(const v1::DeviceTally& tally) {
  nlohmann::json settled = nlohmann::json::object();
  for (const auto& [outcome, count] : tally.settled()) settled[outcome] = count;
  return {{"settled", std::move(settled)},
          {"failure_rate", FailureRate(tally)},
          {"lost", tally.lost()}};
}

using hone::cli::ToJson;  // those of the header, beside those of this file

template <typename Messages>
nlohmann::json ListOf(const Messages& messages) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& message : messages) list.push_back(ToJson(message));
  return list;
}

nlohmann::json ToJson(const v1::WorkerInfo& worker, int at) {
  const v1::Device& device = worker.devices(at);
  const v1::DeviceState state = StateOf(worker, at);
  const v1::SandboxLevel sandbox =
      device.sandbox() == v1::SANDBOX_LEVEL_UNSPECIFIED ? worker.sandbox() : device.sandbox();
  return {
      {"id", device.id()},
      {"kind", KindName(device.kind())},
      {"target", device.target()},
      {"emulated", IsOfEmulated(device.target())},
      {"host_target", device.host_target()},
      {"fingerprint", device.fingerprint()},
      {"threads", device.threads()},
      {"resources", std::vector<std::string>(device.resources().begin(), device.resources().end())},
      {"sandbox", SandboxName(sandbox)},
      {"calibrator_us", device.calibrator_ns() * 1e-3},
      {"calibrations", LoopsOf(device.calibrations())},
      {"calibrated_s", Seconds(state.since_calibration_ns())},
      {"window", state.window()},
      {"leased", state.leased()},
      {"running_fence", state.running_fence()},
      {"running_s", Seconds(state.running_ns())},
      {"losses", state.losses()},
      {"rest_s", Seconds(state.rest_ns())},
      {"rest_reason", state.rest_reason()},
      {"away", state.is_away()},
      {"away_reason", state.away_reason()},
      {"barred", state.barred()},
      {"quarantined", QuarantineOf(worker, device.id())},
      {"tally", ToJson(state.tally())},
      {"leases", ListOf(state.leases())},
      {"calibration_history", ListOf(state.calibrations())}};
}

// "cpu0 3f7 12 s" of each device that runs something.
std::string RunningOf(const v1::WorkerInfo& worker) {
  std::string text;
  for (int i = 0; i < worker.devices_size(); ++i) {
    const v1::DeviceState state = StateOf(worker, i);
    if (state.running_fence() == 0) continue;
    text += fmt::format("{}{} {} for {}", text.empty() ? "" : ", ", worker.devices(i).id(),
                        state.running_fence(), FormatSeconds(Seconds(state.running_ns())));
  }
  return text.empty() ? "-" : text;
}

uint64_t WindowOf(const v1::WorkerInfo& worker) {
  uint64_t window = 0;
  for (const v1::DeviceState& state : worker.device_states()) window += state.window();
  return window;
}

std::string Text(const v1::Quarantine& quarantine) {
  return fmt::format("{}in quarantine, by {}: {}",
                     quarantine.device().empty() ? "" : quarantine.device() + " ",
                     Printable(quarantine.by()), Printable(quarantine.reason()));
}

void PrintLeases(const v1::DeviceState& state) {
  for (const v1::HeldLease& lease : state.leases()) {
    fmt::print("      fence {}: trial {} of task {}, job {}, {}; held for {}", lease.fence(),
               lease.trial(), lease.task(), lease.job(), StateOf(lease),
               FormatSeconds(Seconds(lease.held_ns())));
    if (lease.running_ns() > 0) {
      fmt::print(", ran for {} of at most {}", FormatSeconds(Seconds(lease.running_ns())),
                 FormatSeconds(Seconds(lease.limit_ns())));
    }
    fmt::print("\n");
  }
}

void PrintTally(const v1::DeviceTally& tally) {
  const uint64_t settled = SettledOf(tally);
  if (settled + tally.lost() == 0) return;
  fmt::print("    since the daemon started {} settled, {} of them failed ({:.1f} %)", settled,
             FailuresOf(tally), 100 * FailureRate(tally));
  // Maps of messages have no order.
  const std::map<std::string, uint64_t> by_outcome(tally.settled().begin(), tally.settled().end());
  for (const auto& [outcome, count] : by_outcome) {
    if (outcome != "ok") fmt::print(", {} {}", outcome, count);
  }
  fmt::print("; {} lost\n", tally.lost());
}

void PrintCalibrations(const v1::DeviceState& state) {
  if (state.calibrations_size() < 2) return;
  fmt::print("    calibrated {} times:\n", state.calibrations_size());
  for (const v1::CalibrationPoint& point : state.calibrations()) {
    fmt::print("      {} ago: {}", FormatSeconds(Seconds(point.ago_ns())),
               FormatNs(point.calibrator_ns()));
    for (const v1::DeviceCalibration& loop : point.calibrations()) {
      fmt::print(", {} {} (spread {:.1f} %)", Printable(loop.loop()), FormatNs(loop.median_ns()),
                 100 * loop.spread());
    }
    fmt::print("\n");
  }
}

void PrintDevice(const v1::WorkerInfo& worker, int at) {
  const v1::Device& device = worker.devices(at);
  const v1::DeviceState state = StateOf(worker, at);
  fmt::print("  device {}: {}, {} threads\n    target {}\n    fingerprint {}\n", device.id(),
             KindName(device.kind()), device.threads(), device.target(), device.fingerprint());
  if (device.resources_size() > 0) {
    fmt::print("    shares {}\n", fmt::join(device.resources(), ", "));
  }
  fmt::print("    calibrator {}, {} ago\n", FormatNs(device.calibrator_ns()),
             FormatSeconds(Seconds(state.since_calibration_ns())));
  fmt::print("    {} of {} leases", state.leased(), state.window());
  if (state.running_fence() != 0) {
    fmt::print(", fence {} running for {}", state.running_fence(),
               FormatSeconds(Seconds(state.running_ns())));
  }
  fmt::print("\n");
  PrintLeases(state);
  PrintTally(state.tally());
  PrintCalibrations(state);
  if (state.is_away()) fmt::print("    away: {}\n", state.away_reason());
  if (!state.barred().empty()) fmt::print("    given nothing: {}\n", state.barred());
  if (state.losses() > 0) fmt::print("    lost {} measurements in a row\n", state.losses());
  const std::string quarantine = QuarantineOf(worker, device.id());
  if (!quarantine.empty()) fmt::print("    quarantined: {}\n", quarantine);
}

}  // namespace

nlohmann::json ToJson(const v1::WorkerInfo& worker) {
  nlohmann::json devices = nlohmann::json::array();
  for (int i = 0; i < worker.devices_size(); ++i) devices.push_back(ToJson(worker, i));
  return {{"worker", worker.worker()},
          {"build", worker.build()},
          {"instance", worker.instance()},
          {"identity", worker.identity()},
          {"protocol", worker.protocol()},
          {"state", StateOf(worker)},
          {"sandbox", SandboxName(worker.sandbox())},
          {"settled", worker.settled()},
          {"leased", worker.leased()},
          {"quarantines", ListOf(worker.quarantines())},
          {"silent_s", Seconds(worker.since_last_message_ns())},
          {"devices", std::move(devices)}};
}

nlohmann::json ToJson(const v1::Quarantine& quarantine) {
  return {{"worker", quarantine.worker()},
          {"device", quarantine.device()},
          {"reason", quarantine.reason()},
          {"by", quarantine.by()},
          {"at_ns", quarantine.at_ns()}};
}

void PrintWorkers(const std::vector<v1::WorkerInfo>& workers,
                  const std::vector<v1::Quarantine>& of_gone) {
  fmt::print("{:<28} {:<11} {:<9} {:>7} {:>7} {:>7}  {:<24}  {}\n", "worker", "state", "sandbox",
             "settled", "leased", "silent", "running", "target");
  for (const v1::WorkerInfo& worker : workers) {
    fmt::print("{:<28} {:<11} {:<9} {:>7} {:>7} {:>7}  {:<24}  {}\n", worker.worker(),
               StateOf(worker), SandboxName(worker.sandbox()), worker.settled(),
               fmt::format("{}/{}", worker.leased(), WindowOf(worker)),
               FormatSeconds(Seconds(worker.since_last_message_ns())), RunningOf(worker),
               worker.devices_size() > 0 ? worker.devices(0).target() : "");
  }
  for (const v1::Quarantine& quarantine : of_gone) {
    fmt::print("{:<28} not connected; {}\n", Printable(quarantine.worker()), Text(quarantine));
  }
}

void PrintWorker(const v1::WorkerInfo& worker) {
  fmt::print("{}: {}\n  build {}, protocol {}, sandbox {}\n  instance {}, of {}\n", worker.worker(),
             StateOf(worker), worker.build(), worker.protocol(), SandboxName(worker.sandbox()),
             worker.instance().empty() ? "unknown" : worker.instance(),
             worker.identity().empty() ? "unknown" : worker.identity());
  fmt::print("  {} settled, {} leased, last heard of {} ago\n", worker.settled(), worker.leased(),
             FormatSeconds(Seconds(worker.since_last_message_ns())));
  for (const v1::Quarantine& quarantine : worker.quarantines()) {
    fmt::print("  {}\n", Text(quarantine));
  }
  for (int i = 0; i < worker.devices_size(); ++i) PrintDevice(worker, i);
}

}  // namespace hone::cli
