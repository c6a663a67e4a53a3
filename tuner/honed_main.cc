// `honed`: the daemon. docs/architecture.md, 5 to 8; docs/honed.md has its flags.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "support/daemon_address.h"
#include "support/log.h"
#include "support/output_file.h"
#include "support/parent_death.h"
#include "support/parse_error.h"
#include "support/service_manager.h"
#include "support/spare_cores.h"
#include "support/status.h"
#include "support/version.h"
#include "transport/grpc_log.h"
#include "tuner/builder/client/builder_pool.h"
#include "tuner/calibration/micro_kernels_in.h"
#include "tuner/compiler_lowerer.h"
#include "tuner/honed_health.h"
#include "tuner/honed_init.h"
#include "tuner/search/searches.h"
#include "tuner/search_names.h"
#include "tuner/searches.h"
#include "tuner/server_identity.h"
#include "tuner/service/accept_loop.h"
#include "tuner/service/daemon.h"
#include "tuning_db/store.h"

namespace hone::tuner {
namespace {

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kBadInput = 3, kUnreachable = 5, kBusy = 7 };

constexpr int kLockRetryMs = 100;
constexpr int64_t kHealthLimitNs = 5'000'000'000;
// So long before its certificate ends, a daemon that starts says so.
constexpr int64_t kWarningDays = 30;

struct Flags {
  bool embedded = false;
  bool memory = false;
  bool parent_death_signal = false;
  pid_t parent = 0;
  pid_t client = 0;  // of a private daemon, else 0
  std::string db;
  std::string socket;
  std::string listen;
  std::string advertise;
  std::string tls;
  std::string client_authority;
  std::string audit_log;
  std::string metrics;
  Quota quota = {.most_jobs = 100, .most_tasks = 10'000, .most_bytes = int64_t{256} << 20};
  std::string log_level = "info";
  std::string log_format = "text";
  std::string builder_executable = DefaultBuilderExecutable();
  int builders = 0;  // 0: BuildersFor
  int local_cores = -1;
  int local_threads = 0;
  hone::v1::SandboxLevel sandbox = hone::v1::SANDBOX_LEVEL_UNSPECIFIED;
  TuningOptions tuning;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.set_config("--config", "", "read flags from this file");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.add_flag("--embedded", flags.embedded,
               "private: serves the process that started it, whose jobs end with it");
  app.add_option("--db", flags.db,
                 "the tuning database: a file, made where there is none, or the address of one on "
                 "PostgreSQL (postgresql://USER@HOST/DATABASE), which several honed may share");
  app.add_flag("--memory", flags.memory, "keep nothing (tests)");
  app.add_option("--socket", flags.socket, "the Unix socket to serve");
  app.add_option("--listen", flags.listen,
                 "HOST:PORT to serve over TLS as well, to those whom `hone auth` lets in");
  app.add_option("--tls", flags.tls,
                 "the folder that `honed init` made (default: tls beside the default database)");
  app.add_option("--advertise", flags.advertise,
                 "HOST:PORT at which others dial it (default: the host's name and the port)");
  app.add_option("--client-authority", flags.client_authority,
                 "a file of PEM: who has a certificate of this authority needs no token");
  app.add_option("--builders", flags.builders,
                 "builder processes; 0: one (embedded: one for each core that measuring leaves)")
      ->check(CLI::Range(0, 256));
  app.add_option("--builder-executable", flags.builder_executable, "the hone-builder to run");
  app.add_flag("--parent-death-signal", flags.parent_death_signal, "end when the parent does");
  app.add_option("--parent", flags.parent,
                 "its number, by which --parent-death-signal sees that it has ended already");
  app.add_option("--audit-log", flags.audit_log,
                 "a file for who was refused, and who changed what (JSON, a line each)");
  app.add_option(
      "--metrics", flags.metrics,
      "HOST:PORT to serve metrics at, for Prometheus, over HTTP and to whoever may dial it");
  app.add_option("--most-jobs", flags.quota.most_jobs,
                 "jobs that a submitter over the network may have open; 0: any number")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--most-kernels", flags.quota.most_tasks, "kernels of all of these jobs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--most-bytes", flags.quota.most_bytes, "bytes of these kernels' workloads")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--most-open-trials", flags.tuning.most_open_of_one,
                 "trials that one submitter may have under way; 0: what the devices are worth")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--log-level", flags.log_level, "trace, debug, info, warning, error, off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}));
  app.add_option("--log-format", flags.log_format,
                 "text, or json: an object a line on stderr, for machines that collect logs")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--local-cores", flags.local_cores,
                 "cores that building shares with measuring; 0: none (embedded: all)");
  app.add_option("--local-threads", flags.local_threads,
                 "threads of this machine's worker, whose cores (the last ones) honed leaves alone")
      ->check(CLI::NonNegativeNumber);
  const std::map<std::string, hone::v1::SandboxLevel> levels = {
      {"limits", hone::v1::SANDBOX_LEVEL_LIMITS},
      {"contained", hone::v1::SANDBOX_LEVEL_CONTAINED},
      {"strict", hone::v1::SANDBOX_LEVEL_STRICT}};
  app.add_option("--require-sandbox", flags.sandbox,
                 "give work only to devices whose candidates run in this sandbox or a stricter "
                 "one: limits, contained or strict (default: limits)")
      ->transform(CLI::CheckedTransformer(levels));
  app.add_option("--batch", flags.tuning.batch, "trials proposed at once")
      ->check(CLI::Range(1, 1024));
}

CLI::App* AddInit(CLI::App& app, InitOptions& options, std::string& output, bool& renews) {
  CLI::App* const init = app.add_subcommand(
      "init", "make keys, a certificate and an administrator's token for --listen");
  options.tls = DefaultIdentityFolder();
  options.address = DefaultAddress();
  init->add_option("--tls", options.tls, "the folder to make")->capture_default_str();
  init->add_option("--address", options.address, "HOST:PORT at which clients will dial")
      ->capture_default_str();
  init->add_option("--name", options.names, "one more name or address of the host");
  init->add_option("--db", options.db, "the tuning database, which keeps who may call");
  init->add_option("--output", output,
                   "a file of mode 0600 for the administrator's join string (default: printed)");
  init->add_flag("--renew", renews,
                 "give the server a new certificate; its key, and what clients trust, stay");
  return init;
}

CLI::App* AddHealth(CLI::App& app, std::string& socket) {
  CLI::App* const health = app.add_subcommand("health", "say whether a honed serves here");
  socket = DefaultDaemonSocket();
  health->add_option("--socket", socket, "its Unix socket")->capture_default_str();
  return health;
}

// A worker that measures on all cores alternates with building, which then has them all.
int BuildersFor(const Flags& flags) {
  constexpr int kMost = 8;  // each takes some hundred megabytes
  if (!flags.embedded) return 1;
  const int left = flags.local_cores - flags.local_threads;
  return std::clamp(left > 0 ? left : flags.local_cores, 1, kMost);
}

int Fail(ExitCode code, const std::string& message) {
  if (CurrentLogFormat() == LogFormat::kJson) {
    spdlog::critical("{}", message);
  } else {
    fmt::print(stderr, "honed: {}\n", message);
  }
  return code;
}

int Fail(const absl::Status& status) {
  const bool is_bad_input = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  const bool is_busy = absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
  return Fail(is_bad_input ? kBadInput : is_busy ? kBusy : kFailed, std::string(status.message()));
}

// ---- signals: SIGTERM and SIGINT write into a pipe that main reads ----

int stop_pipe[2] = {-1, -1};

void RequestStop(int signal) {
  const int saved = errno;
  const char code = static_cast<char>(signal);
  [[maybe_unused]] const ssize_t written = write(stop_pipe[1], &code, 1);
  errno = saved;
}

bool CatchSignals() {
  if (pipe2(stop_pipe, O_CLOEXEC) != 0) return false;
  struct sigaction action = {};
  action.sa_handler = RequestStop;
  action.sa_flags = SA_RESTART;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would hide how children end
  return sigaction(SIGTERM, &action, nullptr) == 0 && sigaction(SIGINT, &action, nullptr) == 0;
}

// The signal, or 0 where the store failed.
int WaitForStop() {
  char code = 0;
  while (read(stop_pipe[0], &code, 1) < 0 && errno == EINTR) {
  }
  return code;
}

// Whether a signal comes within that time.
bool StopsWithin(int limit_ms) {
  pollfd stop = {stop_pipe[0], POLLIN, 0};
  return poll(&stop, 1, limit_ms) > 0;
}

// A daemon that is stopped ends within 30 s, which is what systemd and Kubernetes give by default
// before they kill: everything that was acknowledged is in the store, and the next daemon goes on
// from there. A second signal ends it at once.
constexpr int kStopLimitMs = 27'000;

void EndInTime(int code, bool is_embedded) {
  std::thread([code, is_embedded] {
    while (StopsWithin(kStopLimitMs)) {
      const int signal = WaitForStop();
      // The end of a private daemon's client sends another one, and its jobs are yet to be
      // cancelled.
      if (signal != 0 && !is_embedded) _exit(128 + signal);
    }
    spdlog::warn("honed stops without what had not ended in {} s", kStopLimitMs / 1000);
    _exit(code);
  }).detach();
}

// A service goes on; whoever else has the database gives it back.
bool IsPassing(const std::string& path) {
  const auto writer = tuning_db::WriterOf(path);
  return writer.ok() && !(*writer && IsService(**writer));
}

// Its folder is made where there is none.
std::string DefaultDatabase() {
  const std::string path = tuning_db::DefaultPath();
  std::error_code ignored;  // opening says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  return path;
}

// A private daemon waits for the database, and says so once.
absl::StatusOr<std::unique_ptr<tuning_db::Store>> OpenStore(const Flags& flags) {
  if (flags.memory) return tuning_db::MakeMemoryStore();
  const std::string path = flags.db.empty() ? DefaultDatabase() : flags.db;
  tuning_db::Writer self;
  self.address = "unix:" + flags.socket;
  self.client = flags.client;
  for (bool has_said = false;; has_said = true) {
    auto store = tuning_db::OpenStore(path, tuning_db::OpenMode::kCreate, self);
    const bool is_held = absl::IsUnavailable(store.status());
    if (!is_held || !flags.embedded || !IsPassing(path)) return store;
    if (!has_said) fmt::print("waiting\n");
    std::fflush(stdout);
    if (StopsWithin(kLockRetryMs)) return absl::CancelledError("stopped while it waited");
  }
}

// nullptr also where the store does not say.
std::shared_ptr<const schedule::MicroKernelTimes> Measured(tuning_db::Store& store,
                                                           const CpuTarget& target) {
  auto times = MicroKernelsIn(store, target);
  return times.ok() ? *std::move(times) : nullptr;
}

int RunInit(InitOptions options, const std::string& output, bool renews) {
  if (renews) {
    const absl::Status renewed = RenewServer(options, Clock::Real());
    if (!renewed.ok()) return Fail(renewed);
    fmt::print(stderr,
               "honed: the certificate in {} holds for a year; a daemon that runs takes it up\n",
               options.tls);
    return kDone;
  }
  if (options.db.empty()) options.db = DefaultDatabase();
  // A file that cannot be written is found before a token is made that nobody would see.
  if (!output.empty()) {
    const auto place = ResolveOutput(output);
    if (!place.ok()) return Fail(place.status());
  }
  const absl::StatusOr<std::string> join = InitServer(options, Clock::Real());
  if (!join.ok()) return Fail(join.status());
  fmt::print(
      stderr,
      "honed: keys and certificate are in {0}; start `honed --listen HOST:PORT --tls {0}`.\n",
      options.tls);
  if (output.empty()) {
    fmt::print(stderr, "honed: the administrator's join string, which is told this once:\n");
    fmt::print("{}\n", *join);
    return kDone;
  }
  const absl::Status written = WriteOwnFile(output, *join + "\n");
  if (!written.ok()) return Fail(written);
  fmt::print(stderr, "honed: the administrator dials with --server @{}\n", output);
  return kDone;
}

int RunHealth(const std::string& socket) {
  const absl::StatusOr<int> workers = AskHealth(socket, kHealthLimitNs);
  if (!workers.ok()) {
    return Fail(kUnreachable, fmt::format("no honed serves at unix:{}: {}", socket,
                                          std::string(workers.status().message())));
  }
  fmt::print("serving, workers: {}\n", *workers);
  return kDone;
}

// Fills in what serving a network takes.
absl::Status ServeNetwork(const Flags& flags, DaemonOptions& options) {
  const ServerIdentity identity(flags.tls.empty() ? DefaultIdentityFolder() : flags.tls);
  const absl::StatusOr<std::string> fingerprint = identity.Fingerprint();
  if (absl::IsNotFound(fingerprint.status())) {
    return absl::NotFoundError(fmt::format("{}; `honed init` makes what --listen needs",
                                           std::string(fingerprint.status().message())));
  }
  HONE_RETURN_IF_ERROR(fingerprint.status());
  options.tls = identity.OptionsFor(flags.listen);
  options.tls->client_authority_file = flags.client_authority;
  options.certificate = *fingerprint;
  options.advertised = flags.advertise;
  options.quota = flags.quota;
  options.audit_log = flags.audit_log;
  HONE_ASSIGN_OR_RETURN(const int64_t end_s, identity.End());
  const int64_t left_days = (end_s - Clock::Real().WallTimeNs() / 1'000'000'000) / 86'400;
  if (left_days < kWarningDays) {
    spdlog::warn("the server's certificate ends in {} days; `honed init --renew` gives it another",
                 left_days);
  }
  return absl::OkStatus();
}

int Run(const Flags& flags) {
  // Signals are caught first: the parent may end at any moment from here on, and what was made for
  // this daemon has to go with it.
  if (!CatchSignals()) return Fail(kFailed, "cannot catch signals");
  if (flags.parent_death_signal && !EndWithParent(SIGTERM, flags.parent)) {
    return Fail(kFailed, "the parent process is gone");
  }
  // This is done before there are threads, which inherit the cores of this one.
  if (flags.local_threads > 0) LeaveLastCores(flags.local_threads);
  AllowManyDescriptors();
  auto store = OpenStore(flags);
  if (absl::IsCancelled(store.status())) return kDone;
  if (absl::IsUnavailable(store.status()) && !tuning_db::IsHeld(flags.db, store.status())) {
    return Fail(kUnreachable, std::string(store.status().message()));
  }
  if (!store.ok()) return Fail(store.status());
  CompilerLowerer lowerer([&store](const CpuTarget& target) { return Measured(**store, target); });
  Searches searches;
  for (const SearchName& search : kSearches) {
    searches.Add(std::string(search.name), MakeSearch(search.name));
  }

  DaemonOptions options;
  options.socket = flags.socket;
  options.client = flags.client;
  options.metrics = flags.metrics;
  if (!flags.listen.empty()) {
    const absl::Status network = ServeNetwork(flags, options);
    if (!network.ok()) return Fail(network);
  }
  options.tuning = flags.tuning;
  options.farm.sandbox = flags.sandbox;
  options.tuning.build_batches = flags.builders + 1;
  // At least so many trials are open even where few devices are there; a farm is given what its
  // devices hold.
  options.tuning.least_open_trials = (2 + flags.builders) * flags.tuning.batch;
  options.tuning.local_cores = flags.local_cores;
  BuilderPool::Options of_builders;
  of_builders.processes = flags.builders;
  of_builders.executable = flags.builder_executable;
  DaemonParts parts;
  parts.store = store->get();
  parts.lowerer = &lowerer;
  parts.builder = std::make_unique<BuilderPool>(of_builders);
  parts.search = [&searches](const std::string& name) { return searches.Find(name); };
  parts.clock = &Clock::Real();
  parts.on_fatal = [] { RequestStop(0); };
  // A third of it: one beat may be late.
  parts.beat_interval_ns = WatchdogIntervalNs() / 3;
  parts.beat = [] { TellServiceManager("WATCHDOG=1"); };
  auto daemon = Daemon::Start(std::move(options), std::move(parts));
  if (!daemon.ok()) return Fail(daemon.status());
  fmt::print("ready {}{}\n", (*daemon)->address(),
             (*daemon)->port() == 0 ? "" : fmt::format(" {}", (*daemon)->network_address()));
  std::fflush(stdout);
  TellServiceManager(fmt::format("READY=1\nSTATUS=serves {}", (*daemon)->address()));

  const int signal = WaitForStop();
  TellServiceManager("STOPPING=1");
  spdlog::info("honed stops{}", signal == 0 ? ": the tuning database fails" : "");
  const ExitCode code = signal == 0 ? kFailed : kDone;
  EndInTime(code, flags.embedded);
  daemon->reset();
  return code;
}

int Main(int argc, char** argv) {
  StartLog("honed", LogFormat::kText);
  CLI::App app("honed: the tuning daemon of Hone", "honed");
  app.set_version_flag("--version", std::string("honed ") + Version());
  Flags flags;
  AddFlags(app, flags);
  InitOptions of_init;
  bool renews = false;
  std::string join_file;
  CLI::App* const init = AddInit(app, of_init, join_file, renews);
  std::string asked_socket;
  CLI::App* const health = AddHealth(app, asked_socket);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ConfigError& error) {
    return Fail(kUsage,
                fmt::format("expected flags of honed in the file of --config, each with its "
                            "value: {}; see honed --help",
                            error.what()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return Fail(kUsage, fmt::format("{}; see honed --help", SentenceOf(error)));
  }
  StartLog("honed", *ParseLogFormat(flags.log_format));
  LogWhatGrpcSays();
  if (init->parsed()) return RunInit(of_init, join_file, renews);
  if (health->parsed()) return RunHealth(asked_socket);
  if (flags.listen.empty() &&
      !(flags.tls + flags.advertise + flags.client_authority + flags.audit_log).empty()) {
    return Fail(kUsage, "--tls, --advertise, --client-authority and --audit-log go with --listen");
  }
  if (flags.embedded && !flags.listen.empty()) {
    return Fail(kUsage, "--embedded serves one process, and no network; leave out --listen");
  }
  if (flags.memory && !flags.db.empty()) {
    return Fail(kUsage, "--memory keeps nothing, --db keeps everything; choose one");
  }
  if (flags.embedded && tuning_db::IsPostgresAddress(flags.db)) {
    return Fail(kUsage,
                "--embedded serves one process, from a file of its own; a database on PostgreSQL "
                "is for services");
  }
  if (flags.socket.rfind("unix:", 0) == 0) flags.socket = flags.socket.substr(5);
  if (flags.socket.empty()) flags.socket = DefaultDaemonSocket();
  if (flags.local_cores < 0) {
    flags.local_cores = flags.embedded ? static_cast<int>(std::thread::hardware_concurrency()) : 0;
  }
  if (flags.builders == 0) flags.builders = BuildersFor(flags);
  spdlog::set_level(spdlog::level::from_str(flags.log_level));
  if (flags.embedded) flags.client = flags.parent != 0 ? flags.parent : getppid();
  const int code = Run(flags);
  // It was made for this socket.
  if (flags.embedded) rmdir(std::filesystem::path(flags.socket).parent_path().c_str());
  return code;
}

}  // namespace
}  // namespace hone::tuner

int main(int argc, char** argv) { return hone::tuner::Main(argc, argv); }
