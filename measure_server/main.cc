// hone-measure: the worker. Dials a daemon, measures what it assigns.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "measure_server/contained_device.h"
#include "measure_server/core_list.h"
#include "measure_server/cpu_device.h"
#include "measure_server/device_runner.h"
#include "measure_server/device_watch.h"
#include "measure_server/isolation.h"
#include "measure_server/list_devices_apart.h"
#include "measure_server/one_measurement.h"
#include "measure_server/router.h"
#include "measure_server/run_protocol.h"
#include "measure_server/sandbox.h"
#include "measure_server/stream_client.h"
#include "measure_server/worker_cores.h"
#include "measure_server/worker_devices.h"
#include "runtime/host.h"
#include "runtime/module_abi.h"
#include "runtime/target_text.h"
#include "runtime/thread_team.h"
#include "support/clock.h"
#include "support/daemon_address.h"
#include "support/host_name.h"
#include "support/log.h"
#include "support/parent_death.h"
#include "support/parse_error.h"
#include "support/random_id.h"
#include "support/service_manager.h"
#include "support/spare_cores.h"
#include "support/version.h"
#include "transport/grpc_log.h"

namespace hone::measure {
namespace {

// docs/protocol.md, Versions: this release speaks the newest and the one before it.
constexpr uint32_t kProtocol = 3;
constexpr uint32_t kOldestProtocol = 2;

// 7: wrong version, a daemon that is private, a name that is taken, cores of another worker.
enum ExitCode { kExitOk = 0, kExitFailed = 1, kExitUsage = 2, kExitDenied = 6, kExitBusy = 7 };

// What is not measured by the limit is given back; results that nobody acknowledges for so long
// after it are dropped. With the default limit that is within the 30 s that systemd and Kubernetes
// give a process before they kill it.
constexpr int kDrainLimitS = 20;
constexpr int kDeliverS = 7;

// What --describe gives a driver to say what there is, and to open one device.
constexpr int64_t kListLimitNs = 5'000'000'000;
constexpr int64_t kOpenLimitNs = 3'000'000'000;

constexpr const char* kServerVariable = "HONE_SERVER";

struct Flags {
  std::string server;
  std::string name;
  std::vector<std::string> devices = {kHostDevice};
  std::string target;
  std::string cores;  // "0-3"; empty: those that the process may use
  int threads = 0;
  bool is_emulated = IsEmulated();
  SandboxLevel sandbox = SandboxLevel::kStrict;
  std::optional<uint32_t> ahead;
  int drain_limit_s = kDrainLimitS;
  bool describes = false;
  std::string measurement;
  bool parent_death_signal = false;
  pid_t parent = 0;
  std::string log_format = "text";
  StreamOptions stream;
};

// Host names and process numbers are alike in containers.
constexpr size_t kInstanceBytes = 8;
constexpr size_t kNameDigits = 6;

WorkerDevices::Options DevicesOf(const Flags& flags) {
  return {.names = flags.devices,
          .threads = flags.threads,
          .target = flags.target,
          .is_emulated = flags.is_emulated,
          .sandbox = flags.sandbox,
          .ahead = flags.ahead};
}

hone::v1::Hello MakeHello(const Flags& flags, const std::vector<hone::v1::Device>& devices) {
  hone::v1::Hello hello;
  const std::string id = RandomId(kInstanceBytes);
  const std::string process = fmt::format("{}-{}", HostName(), getpid());
  hello.set_worker(flags.name.empty() ? fmt::format("{}-{}", process, id.substr(0, kNameDigits))
                                      : flags.name);
  hello.set_instance(fmt::format("{}-{}", process, id));
  hello.set_build(std::string("hone ") + Version());
  hello.set_min_protocol(kOldestProtocol);
  hello.set_max_protocol(kProtocol);
  hello.set_artifact_abi(HONE_MODULE_ABI_VERSION);
  hello.set_sandbox(flags.sandbox == SandboxLevel::kStrict ? hone::v1::SANDBOX_LEVEL_STRICT
                                                           : hone::v1::SANDBOX_LEVEL_LIMITS);
  hello.mutable_devices()->Assign(devices.begin(), devices.end());
  return hello;
}

// Ends the process where a signal comes within that time.
void LeaveOnSignal(const sigset_t& signals, const timespec* limit) {
  int signal = 0;
  do {
    signal = sigtimedwait(&signals, nullptr, limit);
  } while (signal < 0 && errno == EINTR);
  if (signal > 0) _exit(128 + signal);
}

// The first SIGTERM or SIGINT lets the worker finish what it holds, the second ends it.
void WatchSignals(const sigset_t& signals, Router* router, int drain_limit_s) {
  std::thread([signals, router, drain_limit_s] {
    int signal = 0;
    sigwait(&signals, &signal);
    TellServiceManager("STOPPING=1");
    spdlog::info("finishing what is held; again to leave at once");
    router->Drain();
    const timespec drain = {.tv_sec = drain_limit_s, .tv_nsec = 0};
    LeaveOnSignal(signals, &drain);
    router->GiveUp("its worker was told to stop, and had no time left");
    const timespec deliver = {.tv_sec = kDeliverS, .tv_nsec = 0};
    LeaveOnSignal(signals, &deliver);
    spdlog::warn("results that the daemon did not acknowledge are dropped");
    router->Stop();
    LeaveOnSignal(signals, nullptr);
  }).detach();
}

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  spdlog::error("{}", std::string(status.message()));
  if (absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status)) return kExitDenied;
  const bool is_busy = absl::IsFailedPrecondition(status) || absl::IsAlreadyExists(status);
  return is_busy ? kExitBusy : kExitFailed;
}

// A device that does not exist is an error of whoever named it.
int ExitCodeWithout(const absl::Status& devices) {
  const bool is_usage = absl::IsNotFound(devices) || absl::IsInvalidArgument(devices);
  const int code = ExitCodeOf(devices);
  return is_usage ? kExitUsage : code;
}

// The devices behind drivers, as --describe has them: `problem` is why no candidate opens one.
nlohmann::json DescribeDevices(const DevicesHere& here) {
  nlohmann::json devices = nlohmann::json::array();
  for (const ListedDevice& listed : here.listed) {
    const absl::StatusOr<ContainedDevice> device = ContainedDevice::Start(listed.name);
    const absl::Status opens = device.ok() ? device->CheckOpens(kOpenLimitNs) : device.status();
    const std::vector<std::string> driver =
        absl::StrSplit(listed.identity, '\n', absl::SkipEmpty());
    devices.push_back({{"device", listed.name},
                       {"target", listed.target},
                       {"driver", fmt::format("{}", fmt::join(driver, ", "))},
                       {"problem", std::string(opens.message())}});
  }
  return devices;
}

// One line of JSON for `hone doctor`: what this worker would offer, and in which sandbox it would
// run candidates. Before anything that may start a thread.
int Describe(const Flags& flags) {
  spdlog::set_level(spdlog::level::off);
  absl::StatusOr<DevicesHere> here = ListDevicesApart(kListLimitNs);
  if (!here.ok()) here = DevicesHere{{}, {std::string(here.status().message())}};
  nlohmann::json devices = DescribeDevices(*here);
  nlohmann::json description = {
      {"build", std::string("hone ") + Version()}, {"sandbox", "none"}, {"why_not_stricter", ""}};
  for (const SandboxLevel level : {SandboxLevel::kStrict, SandboxLevel::kLimits}) {
    const absl::Status made = Sandbox::Make(level).status();
    if (made.ok()) {
      description["sandbox"] = level == SandboxLevel::kStrict ? "strict" : "limits";
      break;
    }
    description["why_not_stricter"] = std::string(made.message());
  }
  const hone::v1::Device device = DescribeCpu(flags.threads, flags.target, flags.is_emulated);
  description["threads"] = device.threads();
  description["target"] = device.target();
  description["calibrator_us"] = device.calibrator_ns() * 1e-3;
  description["spread"] = device.calibrations(0).spread();
  description["devices"] = std::move(devices);
  description["missing"] = here->missing;
  description["isolation"] = Isolation::Enter().text();
  fmt::print("{}\n", description.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return kExitOk;
}

// The first candidate's result and the device's fingerprint, as one line of JSON.
std::string ResultLine(const hone::v1::MeasureResult& result) {
  const hone::v1::CandidateResult& candidate = result.candidates(0);
  const nlohmann::json line = {
      {"outcome", hone::v1::MeasureOutcome_Name(candidate.outcome())},
      {"message", candidate.message()},
      {"samples_ns",
       std::vector<double>(candidate.samples_ns().begin(), candidate.samples_ns().end())},
      {"calibrator_ns",
       std::vector<double>(candidate.calibrator_ns().begin(), candidate.calibrator_ns().end())},
      {"error_ratio", candidate.error_ratio()},
      {"regime", candidate.regime()},
      {"device", result.device_fingerprint()}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Measures what a file says, once, and prints the result; nothing is told to a daemon.
int MeasureOnce(const Flags& flags) {
  // Before anything that may start a thread.
  absl::StatusOr<WorkerDevices> devices = WorkerDevices::Start(DevicesOf(flags));
  if (!devices.ok()) return ExitCodeWithout(devices.status());
  const absl::StatusOr<Job> job = ReadOneMeasurement(flags.measurement);
  if (!job.ok()) return ExitCodeOf(job.status());
  const hone::v1::Device& device = devices->devices().front();
  const absl::StatusOr<HeldCores> held =
      HoldCores(MeasuredCores(devices->cores()), !flags.cores.empty());
  if (!held.ok()) return ExitCodeOf(held.status());
  LeaveLastCores(devices->cores());
  const auto measurer = devices->MeasurerFor(device, &Clock::Real());
  hone::v1::MeasureResult result = measurer->Measure(*job);
  result.set_device_fingerprint(device.fingerprint());
  fmt::print("{}\n", ResultLine(result));
  return kExitOk;
}

int Serve(const Flags& flags, const ServerAddress& address) {
  // Before anything that may start a thread.
  absl::StatusOr<WorkerDevices> devices = WorkerDevices::Start(DevicesOf(flags));
  if (!devices.ok()) return ExitCodeWithout(devices.status());
  RouterOptions options;
  options.hello = MakeHello(flags, devices->devices());
  const std::vector<int> cores = MeasuredCores(devices->cores());
  const absl::StatusOr<HeldCores> held = HoldCores(cores, !flags.cores.empty());
  if (!held.ok()) return ExitCodeOf(held.status());
  for (const hone::v1::Device& device : devices->devices()) {
    spdlog::info("worker {}: {}, {} threads of {}, on the cores {}", options.hello.worker(),
                 device.id(), device.threads(), device.target(), CoresText(cores));
  }
  if (flags.is_emulated) {
    spdlog::info(
        "the processor is emulated: figures of it are for tasks of emulated targets alone");
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  std::map<std::string, std::unique_ptr<DeviceRunner>> runners;
  for (const hone::v1::Device& device : devices->devices()) {
    const uint32_t ahead = devices->AheadOf(device);
    options.ahead[device.id()] = ahead;
    runners[device.id()] =
        std::make_unique<DeviceRunner>(device, devices->MeasurerFor(device, &Clock::Real()), ahead);
  }
  options.cancel = [&runners](const std::string& device, int64_t fence) {
    const auto runner = runners.find(device);
    if (runner != runners.end()) runner->second->Cancel(fence);
  };
  auto* router = new Router(options, &Clock::Real());  // the signal thread may outlive main
  std::optional<DeviceWatch> watch;
  for (const hone::v1::Device& device : devices->devices()) {
    if (device.kind() != hone::v1::DEVICE_KIND_CPU) continue;
    watch.emplace(device, DeviceWatch::Seams{HostCoreCount, Calibrate}, router);
    watch->Start();
  }
  // Measurements take the last cores; our other threads stay off them where there are others.
  LeaveLastCores(devices->cores());
  WatchSignals(signals, router, flags.drain_limit_s);
  for (const auto& [id, runner] : runners) runner->Start(router);
  TellServiceManager(fmt::format("READY=1\nSTATUS=measures for {}", address.Name()));
  StreamOptions of_stream = flags.stream;
  if (WatchdogIntervalNs() > 0) of_stream.beat = [] { TellServiceManager("WATCHDOG=1"); };
  const absl::Status status = RunStreams(address, router, of_stream);
  router->Stop();
  if (status.ok()) spdlog::info("worker {} has left", options.hello.worker());
  const bool is_any_lost =
      std::ranges::any_of(runners, [](const auto& entry) { return entry.second->is_lost(); });
  return status.ok() && is_any_lost ? kExitFailed : ExitCodeOf(status);
}

int Main(int argc, char** argv) {
  Flags flags;
  signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would hide how children end
  CLI::App app("Hone's worker: measures candidate kernels for a daemon.", "hone-measure");
  app.set_version_flag("--version", std::string("hone ") + Version());
  app.add_option("--server,--join", flags.server,
                 "the daemon: unix:PATH, a join string, or @FILE with one (default: HONE_SERVER, "
                 "else honed's own default)")
      ->envname(kServerVariable);
  CLI::Option* const certificate =
      app.add_option("--certificate", flags.stream.certificate_file,
                     "a file of PEM: the worker's own certificate, which does instead of a token");
  app.add_option("--key", flags.stream.key_file, "its key")->needs(certificate);
  app.add_option("--name", flags.name,
                 "unique on the farm (default: host, process and six random digits)");
  app.add_option("--cores", flags.cores,
                 "the cores that this worker uses, such as 0-3 or 0,2; no other worker of the "
                 "machine may measure on those that it measures on (default: all that the process "
                 "may use)");
  app.add_option("--threads", flags.threads,
                 "cores to measure on, the last of those that it uses (default: all of them)")
      ->check(CLI::Range(1, kMaxThreads));
  app.add_option("--device", flags.devices,
                 "what it measures on: cpu, or a device behind a driver such as opencl:0; may be "
                 "repeated, and they take turns (default: cpu)")
      ->take_all();
  app.add_option("--load-ahead", flags.ahead,
                 "how many candidates GPUs of CUDA load while one is measured, one on each core "
                 "beside the measured one at most (default: 4)")
      ->check(CLI::Range(0, 16));
  app.add_option("--target", flags.target,
                 "canonical text of another target whose code this machine runs, such as one of "
                 "fewer features (default: this machine's)");
  app.add_flag(
      "--emulated", flags.is_emulated,
      "an emulator plays this machine, in a way that the worker does not notice: one that "
      "plays a whole machine (one that plays a program, such as qemu-aarch64, it notices)");
  const std::map<std::string, SandboxLevel> levels = {{"strict", SandboxLevel::kStrict},
                                                      {"limits", SandboxLevel::kLimits}};
  app.add_option("--sandbox", flags.sandbox, "strict or limits (default: strict)")
      ->transform(CLI::CheckedTransformer(levels));
  app.add_option("--drain-limit", flags.drain_limit_s,
                 "seconds for which it may go on measuring what it holds once it is told to stop")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  app.add_option("--log-format", flags.log_format,
                 "text, or json: an object a line on stderr, for machines that collect logs")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--describe", flags.describes,
               "print what this worker would offer, as a line of JSON, and end");
  app.add_option("--measure", flags.measurement,
                 "measure what this file says (hone.v1.OneMeasurement), print the result as a line "
                 "of JSON, and end");
  app.add_flag("--parent-death-signal", flags.parent_death_signal, "end with the parent process");
  app.add_option("--parent", flags.parent,
                 "its number, by which --parent-death-signal sees that it has ended already");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "hone-measure: {}; see hone-measure --help\n", SentenceOf(error));
    return kExitUsage;
  }
  StartLog("hone-measure", *ParseLogFormat(flags.log_format));
  LogWhatGrpcSays();
  if (const absl::Status cores = UseCores(flags.cores, flags.threads); !cores.ok()) {
    fmt::print(stderr, "{}\n", std::string(cores.message()));
    return kExitUsage;
  }
  if (flags.describes) return Describe(flags);
  if (!flags.target.empty() && std::ranges::count(flags.devices, kHostDevice) == 0) {
    fmt::print(stderr,
               "expected --target with the device cpu only, found it with {}, whose target is what "
               "its driver reports\n",
               fmt::join(flags.devices, ", "));
    return kExitUsage;
  }
  if (flags.is_emulated && !flags.target.empty()) flags.target = AsEmulated(flags.target);
  const std::string missing =
      flags.target.empty() ? "" : MissingOnHost(flags.target, flags.is_emulated);
  if (!missing.empty()) {
    fmt::print(stderr,
               "expected for --target the canonical text of one whose code this machine runs, "
               "found {}: no {}\n",
               flags.target, missing);
    return kExitUsage;
  }
  if (flags.parent_death_signal && !EndWithParent(SIGKILL, flags.parent)) return kExitFailed;
  if (!flags.measurement.empty()) return MeasureOnce(flags);
  if (flags.server.empty()) {
    const absl::StatusOr<std::string> socket = DialableDefaultSocket();
    if (!socket.ok()) return ExitCodeOf(socket.status());
    flags.server = "unix:" + *socket;
  }
  const absl::StatusOr<ServerAddress> address = ReadServerAddress(flags.server);
  if (!address.ok()) {
    const char* const of_environment = std::getenv(kServerVariable);
    const bool is_of_environment = of_environment != nullptr && flags.server == of_environment;
    fmt::print(stderr, "{}{}\n", is_of_environment ? fmt::format("{}: ", kServerVariable) : "",
               std::string(address.status().message()));
    return kExitUsage;
  }
  return Serve(flags, *address);
}

}  // namespace
}  // namespace hone::measure

int main(int argc, char** argv) { return hone::measure::Main(argc, argv); }
