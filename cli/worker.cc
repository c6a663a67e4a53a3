// `hone worker`: who measures for a running honed, and what an operator says of them.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/farm_client.h"
#include "cli/json_document.h"
#include "cli/printable.h"
#include "cli/service_address.h"
#include "cli/verb.h"
#include "cli/worker_report.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct WorkerOptions {
  std::string worker;
  std::string device;
  std::string reason;
  std::string database;
  std::string server;
  bool json = false;
};

template <typename Messages>
nlohmann::json JsonListOf(const Messages& messages) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& message : messages) list.push_back(ToJson(message));
  return list;
}

absl::Status ListWorkers(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_ASSIGN_OR_RETURN(const ListedWorkers listed, FarmClient(address).Workers());
  if (options.json) {
    PrintDocument({{"schema", 1},
                   {"server", ServerName(address)},
                   {"workers", JsonListOf(listed.workers)},
                   {"quarantines", JsonListOf(listed.of_gone)}});
  } else {
    PrintWorkers(listed.workers, listed.of_gone);
  }
  return absl::OkStatus();
}

absl::Status NotConnected(const std::string& worker, const ListedWorkers& listed) {
  for (const v1::Quarantine& quarantine : listed.of_gone) {
    if (quarantine.worker() != worker) continue;
    return absl::NotFoundError(fmt::format(
        "worker {} is not connected, and in quarantine: {} put it there ({}); `hone worker release "
        "{}` ends that",
        worker, Printable(quarantine.by()), Printable(quarantine.reason()), worker));
  }
  return absl::NotFoundError(fmt::format(
      "expected a connected worker, found no {}; `hone worker list` shows who is", worker));
}

absl::Status ShowWorker(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_ASSIGN_OR_RETURN(const ListedWorkers listed, FarmClient(address).Workers(options.worker));
  for (const v1::WorkerInfo& worker : listed.workers) {
    if (worker.worker() != options.worker) continue;
    if (options.json) {
      PrintDocument({{"schema", 1}, {"server", ServerName(address)}, {"worker", ToJson(worker)}});
    } else {
      PrintWorker(worker);
    }
    return absl::OkStatus();
  }
  return NotConnected(options.worker, listed);
}

absl::Status Drain(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_RETURN_IF_ERROR(FarmClient(address).Drain(options.worker));
  fmt::print("worker {} finishes what it holds, and leaves\n", options.worker);
  return absl::OkStatus();
}

absl::Status Undrain(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  HONE_RETURN_IF_ERROR(FarmClient(address).Undrain(options.worker));
  fmt::print("worker {} stays\n", options.worker);
  return absl::OkStatus();
}

std::string Subject(const WorkerOptions& options) {
  return options.device.empty()
             ? fmt::format("worker {}", options.worker)
             : fmt::format("device {} of worker {}", options.device, options.worker);
}

absl::Status Quarantine(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  v1::QuarantineWorkerRequest request;
  request.set_worker(options.worker);
  request.set_device(options.device);
  request.set_reason(options.reason);
  HONE_ASSIGN_OR_RETURN(const v1::QuarantineWorkerResponse answer,
                        FarmClient(address).Quarantine(request));
  fmt::print("{} is given nothing until `hone worker release`{}\n", Subject(options),
             answer.is_connected() ? "; what it holds is finished" : "; it is not connected now");
  return absl::OkStatus();
}

absl::Status Release(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  v1::ReleaseWorkerRequest request;
  request.set_worker(options.worker);
  request.set_device(options.device);
  HONE_ASSIGN_OR_RETURN(const v1::ReleaseWorkerResponse answer,
                        FarmClient(address).Release(request));
  for (const v1::Quarantine& ended : answer.ended()) {
    fmt::print("released {}{}: {} had put it aside ({})\n", Printable(ended.worker()),
               ended.device().empty() ? "" : " " + Printable(ended.device()), Printable(ended.by()),
               Printable(ended.reason()));
  }
  if (answer.rested_devices_size() > 0) {
    fmt::print("tried again at once: {}\n", fmt::join(answer.rested_devices(), ", "));
  }
  return absl::OkStatus();
}

using WorkerVerb = absl::Status (*)(const WorkerOptions&);

CLI::App& AddWorkerVerb(CLI::App& worker, const std::string& name, const std::string& help,
                        const std::shared_ptr<WorkerOptions>& options, Action& action,
                        WorkerVerb run) {
  CLI::App& verb = *worker.add_subcommand(name, help);
  if (name != "list") {
    verb.add_option("WORKER", options->worker, "Its name, as `hone worker list` has it")
        ->required()
        ->check(Utf8Text());
  }
  CLI::Option* db =
      verb.add_option("--db", options->database, "The tuning database that its honed holds");
  verb.add_option("--server", options->server,
                  "A running honed: unix:PATH, a join string, or @FILE with one")
      ->excludes(db);
  verb.callback([options, &action, run] { action = [options, run] { return run(*options); }; });
  return verb;
}

void AddDevice(CLI::App& verb, const std::shared_ptr<WorkerOptions>& options) {
  verb.add_option("--device", options->device, "One of its devices, as `hone worker show` has it")
      ->check(Utf8Text());
}

}  // namespace

void AddWorker(CLI::App& app, Action& action) {
  auto options = std::make_shared<WorkerOptions>();
  CLI::App& worker = *app.add_subcommand("worker", "The workers of a running honed");
  worker.require_subcommand(1);
  CLI::App& list =
      AddWorkerVerb(worker, "list", "Lists the connected workers", options, action, ListWorkers);
  CLI::App& show = AddWorkerVerb(worker, "show", "Shows a worker, its devices and what they hold",
                                 options, action, ShowWorker);
  for (CLI::App* const verb : {&list, &show}) {
    verb->add_flag("--json", options->json, "Prints one JSON document");
  }
  AddWorkerVerb(worker, "drain", "Lets a worker finish what it holds, and leave", options, action,
                Drain);
  AddWorkerVerb(worker, "undrain", "Takes a drain back, unless the worker has left", options,
                action, Undrain);
  CLI::App& quarantine = AddWorkerVerb(
      worker, "quarantine", "Gives a worker or device nothing more until it is released; it stays",
      options, action, Quarantine);
  quarantine.add_option("--reason", options->reason, "Why, for who asks later")
      ->required()
      ->check(Utf8Text());
  AddDevice(quarantine, options);
  CLI::App& release =
      AddWorkerVerb(worker, "release", "Ends quarantines of a worker, and rests of its devices",
                    options, action, Release);
  AddDevice(release, options);
}

}  // namespace hone::cli
