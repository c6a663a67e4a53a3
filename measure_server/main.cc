// hone-measure: the worker. Dials a daemon, measures what it assigns.
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "measure_server/cpu_device.h"
#include "measure_server/device_runner.h"
#include "measure_server/device_watch.h"
#include "measure_server/router.h"
#include "measure_server/stream_client.h"
#include "measure_server/zygote.h"
#include "runtime/host.h"
#include "runtime/module_abi.h"
#include "runtime/target_text.h"
#include "runtime/thread_team.h"
#include "support/clock.h"
#include "support/daemon_address.h"
#include "support/host_name.h"
#include "support/parent_death.h"
#include "support/random_id.h"
#include "support/spare_cores.h"
#include "support/version.h"

namespace hone::measure {
namespace {

// docs/protocol.md, Versions: this release speaks the newest and the one before it.
constexpr uint32_t kProtocol = 3;
constexpr uint32_t kOldestProtocol = 2;

// 7: wrong version, a daemon that is private, a name that is taken.
enum ExitCode { kExitOk = 0, kExitFailed = 1, kExitUsage = 2, kExitDenied = 6, kExitBusy = 7 };

struct Flags {
  std::string server;
  std::string name;
  std::string target;
  int threads = 0;
  bool is_emulated = IsEmulated();
  SandboxLevel sandbox = SandboxLevel::kStrict;
  bool parent_death_signal = false;
  pid_t parent = 0;
  StreamOptions stream;
};

// Host names and process numbers are alike in containers.
constexpr size_t kInstanceBytes = 8;
constexpr size_t kNameDigits = 6;

hone::v1::Hello MakeHello(const Flags& flags) {
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
  hone::v1::Device& device = *hello.add_devices();
  device = DescribeCpu(flags.threads, flags.target, flags.is_emulated);
  device.set_sandbox(hello.sandbox());
  return hello;
}

// The first SIGTERM or SIGINT lets the worker finish what it holds, the second ends it.
void WatchSignals(const sigset_t& signals, Router* router) {
  std::thread([signals, router] {
    int signal = 0;
    sigwait(&signals, &signal);
    spdlog::info("finishing what is held; again to leave at once");
    router->Drain();
    sigwait(&signals, &signal);
    _exit(128 + signal);
  }).detach();
}

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  spdlog::error("{}", std::string(status.message()));
  if (absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status)) return kExitDenied;
  const bool is_busy = absl::IsFailedPrecondition(status) || absl::IsAlreadyExists(status);
  return is_busy ? kExitBusy : kExitFailed;
}

int Serve(const Flags& flags, const ServerAddress& address) {
  // Before anything that may start a thread.
  absl::StatusOr<std::unique_ptr<Zygote>> zygote = Zygote::Start(flags.sandbox);
  if (!zygote.ok()) return ExitCodeOf(zygote.status());
  RouterOptions options;
  options.hello = MakeHello(flags);
  const hone::v1::Device device = options.hello.devices(0);
  spdlog::info("worker {}: {} threads of {}", options.hello.worker(), device.threads(),
               device.target());
  if (flags.is_emulated) {
    spdlog::info(
        "the processor is emulated: figures of it are for tasks of emulated targets alone");
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  DeviceRunner cpu(device, MakeCpuMeasurer(device, zygote->get(), &Clock::Real()));
  options.cancel = [&cpu](const std::string&, int64_t fence) { cpu.Cancel(fence); };
  auto* router = new Router(options, &Clock::Real());  // the signal thread may outlive main
  DeviceWatch watch(device, {HostCoreCount, Calibrate}, router);
  watch.Start();
  // Measurements take the last cores; our other threads stay off them where there are others.
  LeaveLastCores(static_cast<int>(device.threads()));
  WatchSignals(signals, router);
  cpu.Start(router);
  const absl::Status status = RunStreams(address, router, flags.stream);
  router->Stop();
  return status.ok() && cpu.is_lost() ? kExitFailed : ExitCodeOf(status);
}

int Main(int argc, char** argv) {
  Flags flags;
  signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would hide how children end
  CLI::App app("Hone's worker: measures candidate kernels for a daemon.", "hone-measure");
  app.set_version_flag("--version", std::string("hone ") + Version());
  app.add_option("--server,--join", flags.server,
                 "the daemon: unix:PATH, a join string, or @FILE with one (default: HONE_SERVER, "
                 "else honed's own default)")
      ->envname("HONE_SERVER");
  CLI::Option* const certificate =
      app.add_option("--certificate", flags.stream.certificate_file,
                     "a file of PEM: the worker's own certificate, which does instead of a token");
  app.add_option("--key", flags.stream.key_file, "its key")->needs(certificate);
  app.add_option("--name", flags.name,
                 "unique on the farm (default: host, process and six random digits)");
  app.add_option("--threads", flags.threads, "cores to measure on (default: all)")
      ->check(CLI::Range(1, kMaxThreads));
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
  app.add_flag("--parent-death-signal", flags.parent_death_signal, "end with the parent process");
  app.add_option("--parent", flags.parent,
                 "its number, by which --parent-death-signal sees that it has ended already");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("hone-measure"));
  if (flags.server.empty()) {
    const absl::StatusOr<std::string> socket = DialableDefaultSocket();
    if (!socket.ok()) return ExitCodeOf(socket.status());
    flags.server = "unix:" + *socket;
  }
  const absl::StatusOr<ServerAddress> address = ReadServerAddress(flags.server);
  if (!address.ok()) {
    fmt::print(stderr, "{}\n", std::string(address.status().message()));
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
  return Serve(flags, *address);
}

}  // namespace
}  // namespace hone::measure

int main(int argc, char** argv) { return hone::measure::Main(argc, argv); }
