// `hone worker list`, `show` and `drain`: who measures for a running honed.
#include <map>

#include "CLI/CLI.hpp"
#include "cli/daemon_channel.h"
#include "cli/farm_client.h"
#include "cli/json_document.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "fmt/format.h"
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

std::string QuarantineOf(const v1::WorkerInfo& worker, const std::string& device) {
  const auto it = worker.quarantined().find(device);
  return it != worker.quarantined().end() ? it->second : "";
}

// "quarantined" where none of its devices gets leases.
std::string StateOf(const v1::WorkerInfo& worker) {
  if (worker.draining()) return "draining";
  if (worker.quarantined_size() > 0 && worker.quarantined_size() == worker.devices_size()) {
    return "quarantined";
  }
  return worker.leased() > 0 ? "measuring" : "idle";
}

nlohmann::json ToJson(const v1::WorkerInfo& worker) {
  nlohmann::json devices = nlohmann::json::array();
  for (const v1::Device& device : worker.devices()) {
    devices.push_back({{"id", device.id()},
                       {"target", device.target()},
                       {"fingerprint", device.fingerprint()},
                       {"threads", device.threads()},
                       {"calibrator_us", device.calibrator_ns() * 1e-3},
                       {"quarantined", QuarantineOf(worker, device.id())}});
  }
  return {{"worker", worker.worker()},
          {"build", worker.build()},
          {"instance", worker.instance()},
          {"state", StateOf(worker)},
          {"sandbox", SandboxName(worker.sandbox())},
          {"settled", worker.settled()},
          {"leased", worker.leased()},
          {"silent_s", static_cast<double>(worker.since_last_message_ns()) * 1e-9},
          {"devices", std::move(devices)}};
}

absl::Status List(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_ASSIGN_OR_RETURN(const auto workers, FarmClient(address).Workers());
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const v1::WorkerInfo& worker : workers) list.push_back(ToJson(worker));
    PrintDocument({{"schema", 1}, {"server", address}, {"workers", std::move(list)}});
    return absl::OkStatus();
  }
  fmt::print("{:<28} {:<11} {:<9} {:>7} {:>7} {:>7}  {}\n", "worker", "state", "sandbox", "settled",
             "leased", "silent", "target");
  for (const v1::WorkerInfo& worker : workers) {
    fmt::print("{:<28} {:<11} {:<9} {:>7} {:>7} {:>7}  {}\n", worker.worker(), StateOf(worker),
               SandboxName(worker.sandbox()), worker.settled(), worker.leased(),
               FormatSeconds(static_cast<double>(worker.since_last_message_ns()) * 1e-9),
               worker.devices_size() > 0 ? worker.devices(0).target() : "");
  }
  return absl::OkStatus();
}

void PrintWorker(const v1::WorkerInfo& worker) {
  fmt::print("{}: {}\n  build {}, sandbox {}\n  {} settled, {} leased, last heard of {} ago\n",
             worker.worker(), StateOf(worker), worker.build(), SandboxName(worker.sandbox()),
             worker.settled(), worker.leased(),
             FormatSeconds(static_cast<double>(worker.since_last_message_ns()) * 1e-9));
  for (const v1::Device& device : worker.devices()) {
    fmt::print("  device {}: {} threads, calibrator {}\n    target {}\n    fingerprint {}\n",
               device.id(), device.threads(), FormatNs(device.calibrator_ns()), device.target(),
               device.fingerprint());
    const std::string quarantine = QuarantineOf(worker, device.id());
    if (!quarantine.empty()) fmt::print("    quarantined: {}\n", quarantine);
  }
}

absl::Status Show(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_ASSIGN_OR_RETURN(const auto workers, FarmClient(address).Workers());
  for (const v1::WorkerInfo& worker : workers) {
    if (worker.worker() != options.worker) continue;
    if (options.json) {
      PrintDocument({{"schema", 1}, {"server", address}, {"worker", ToJson(worker)}});
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
  verb.add_option("--server", options->server, "A running honed: unix:PATH")->excludes(db);
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
