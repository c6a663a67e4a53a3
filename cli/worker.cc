// `hone worker list`, `show` and `drain`: who measures for a running honed.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/farm_client.h"
#include "cli/json_document.h"
#include "cli/progress.h"
#include "cli/service_address.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/target_text.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct Options {
  std::string worker;
  std::string database;
  std::string server;
  bool json = false;
};

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

// "quarantined" or "away" where none of its devices gets leases.
std::string StateOf(const v1::WorkerInfo& worker) {
  if (worker.draining()) return "draining";
  const bool is_away = worker.device_states_size() > 0 &&
                       std::all_of(worker.device_states().begin(), worker.device_states().end(),
                                   [](const v1::DeviceState& state) { return state.is_away(); });
  if (is_away) return "away";
  if (worker.quarantined_size() > 0 && worker.quarantined_size() == worker.devices_size()) {
    return "quarantined";
  }
  return worker.leased() > 0 ? "measuring" : "idle";
}

nlohmann::json ToJson(const v1::WorkerInfo& worker, int at) {
  const v1::Device& device = worker.devices(at);
  const v1::DeviceState state = StateOf(worker, at);
  const v1::SandboxLevel sandbox =
      device.sandbox() == v1::SANDBOX_LEVEL_UNSPECIFIED ? worker.sandbox() : device.sandbox();
  nlohmann::json calibrations = nlohmann::json::array();
  for (const v1::DeviceCalibration& calibration : device.calibrations()) {
    calibrations.push_back({{"loop", calibration.loop()},
                            {"median_us", calibration.median_ns() * 1e-3},
                            {"spread", calibration.spread()}});
  }
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
      {"calibrations", std::move(calibrations)},
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
      {"quarantined", QuarantineOf(worker, device.id())}};
}

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
          {"silent_s", Seconds(worker.since_last_message_ns())},
          {"devices", std::move(devices)}};
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

absl::Status List(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_ASSIGN_OR_RETURN(const auto workers, FarmClient(address).Workers());
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const v1::WorkerInfo& worker : workers) list.push_back(ToJson(worker));
    PrintDocument({{"schema", 1}, {"server", ServerName(address)}, {"workers", std::move(list)}});
    return absl::OkStatus();
  }
  fmt::print("{:<28} {:<11} {:<9} {:>7} {:>7} {:>7}  {:<24}  {}\n", "worker", "state", "sandbox",
             "settled", "leased", "silent", "running", "target");
  for (const v1::WorkerInfo& worker : workers) {
    fmt::print("{:<28} {:<11} {:<9} {:>7} {:>7} {:>7}  {:<24}  {}\n", worker.worker(),
               StateOf(worker), SandboxName(worker.sandbox()), worker.settled(),
               fmt::format("{}/{}", worker.leased(), WindowOf(worker)),
               FormatSeconds(Seconds(worker.since_last_message_ns())), RunningOf(worker),
               worker.devices_size() > 0 ? worker.devices(0).target() : "");
  }
  return absl::OkStatus();
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
  if (state.is_away()) fmt::print("    away: {}\n", state.away_reason());
  if (!state.barred().empty()) fmt::print("    given nothing: {}\n", state.barred());
  if (state.losses() > 0) fmt::print("    lost {} measurements in a row\n", state.losses());
  const std::string quarantine = QuarantineOf(worker, device.id());
  if (!quarantine.empty()) fmt::print("    quarantined: {}\n", quarantine);
}

void PrintWorker(const v1::WorkerInfo& worker) {
  fmt::print("{}: {}\n  build {}, protocol {}, sandbox {}\n  instance {}, of {}\n", worker.worker(),
             StateOf(worker), worker.build(), worker.protocol(), SandboxName(worker.sandbox()),
             worker.instance().empty() ? "unknown" : worker.instance(),
             worker.identity().empty() ? "unknown" : worker.identity());
  fmt::print("  {} settled, {} leased, last heard of {} ago\n", worker.settled(), worker.leased(),
             FormatSeconds(Seconds(worker.since_last_message_ns())));
  for (int i = 0; i < worker.devices_size(); ++i) PrintDevice(worker, i);
}

absl::Status Show(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_ASSIGN_OR_RETURN(const auto workers, FarmClient(address).Workers());
  for (const v1::WorkerInfo& worker : workers) {
    if (worker.worker() != options.worker) continue;
    if (options.json) {
      PrintDocument({{"schema", 1}, {"server", ServerName(address)}, {"worker", ToJson(worker)}});
    } else {
      PrintWorker(worker);
    }
    return absl::OkStatus();
  }
  return absl::NotFoundError(fmt::format(
      "expected a connected worker, found no {}; `hone worker list` shows who is", options.worker));
}

absl::Status Drain(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_RETURN_IF_ERROR(FarmClient(address).Drain(options.worker));
  fmt::print("worker {} finishes what it holds, and leaves\n", options.worker);
  return absl::OkStatus();
}

CLI::App& AddVerb(CLI::App& worker, const std::string& name, const std::string& help,
                  const std::shared_ptr<Options>& options) {
  CLI::App& verb = *worker.add_subcommand(name, help);
  if (name != "list") {
    verb.add_option("WORKER", options->worker, "Its name, as `hone worker list` has it")
        ->required();
  }
  CLI::Option* db =
      verb.add_option("--db", options->database, "The tuning database that its honed holds");
  verb.add_option("--server", options->server,
                  "A running honed: unix:PATH, a join string, or @FILE with one")
      ->excludes(db);
  if (name != "drain") {
    verb.add_flag("--json", options->json, "Prints one JSON document");
  }
  return verb;
}

}  // namespace

void AddWorker(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& worker = *app.add_subcommand("worker", "The workers of a running honed");
  worker.require_subcommand(1);
  AddVerb(worker, "list", "Lists the connected workers", options).callback([options, &action] {
    action = [options] { return List(*options); };
  });
  AddVerb(worker, "show", "Shows a worker and its devices", options).callback([options, &action] {
    action = [options] { return Show(*options); };
  });
  AddVerb(worker, "drain", "Lets a worker finish what it holds, and leave", options)
      .callback([options, &action] { action = [options] { return Drain(*options); }; });
}

}  // namespace hone::cli
