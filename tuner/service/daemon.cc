#include "tuner/service/daemon.h"

#include <fmt/format.h>
#include <grpcpp/impl/service_type.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <utility>

#include "support/host_name.h"
#include "support/status.h"
#include "support/user_name.h"
#include "support/version.h"
#include "tuner/executor.h"
#include "tuner/job_reporter.h"
#include "tuner/metrics/daemon_metrics.h"
#include "tuner/metrics/metrics_server.h"
#include "tuner/service/audit_interceptor.h"
#include "tuner/service/audit_log.h"
#include "tuner/service/auth_service.h"
#include "tuner/service/door.h"
#include "tuner/service/event_hub.h"
#include "tuner/service/farm_service.h"
#include "tuner/service/job_desk.h"
#include "tuner/service/log_service.h"
#include "tuner/service/private_door.h"
#include "tuner/service/rpc_counts.h"
#include "tuner/service/socket_folder.h"
#include "tuner/service/tls_door.h"
#include "tuner/service/tuning_service.h"
#include "tuner/service/unix_listener.h"
#include "tuner/store_error.h"
#include "tuning_db/end_jobs.h"

namespace hone::tuner {
namespace {

constexpr int kTickMs = 200;
constexpr int64_t kJobsAPage = 1000;
// A scrape has some seconds.
constexpr std::chrono::seconds kFiguresLimit(2);
// How late a revoked token is noticed.
constexpr int kGateMs = 1000;
// How late a quarantine is noticed that was said at another daemon.
constexpr int kQuarantinesMs = 1000;

std::vector<std::string> ConnectedTargets(Dispatcher& dispatcher) {
  std::promise<std::vector<std::string>> promise;
  std::future<std::vector<std::string>> future = promise.get_future();
  dispatcher.ListWorkers("", [&promise](const Dispatcher::Workers& listed) {
    std::set<std::string> targets;
    for (const auto& worker : listed.workers) {
      for (int i = 0; i < worker.devices_size(); ++i) {
        if (worker.device_states(i).barred().empty()) targets.insert(worker.devices(i).target());
      }
    }
    promise.set_value({targets.begin(), targets.end()});
  });
  return future.get();
}

// Daemons of several machines may have sockets of one path.
std::string OwnerName(const DaemonOptions& options, const tuning_db::Store& store) {
  std::string name = "unix:" + options.socket;
  if (!store.HasManyOwners()) return name;
  return fmt::format("{} on {}", name, HostName());
}

}  // namespace

// Members stand in the order in which they depend on each other, and are destroyed in the reverse.
struct Daemon::Impl {
  Impl(DaemonOptions o, DaemonParts p, tuning_db::Ownership self)
      : options(std::move(o)),
        parts(std::move(p)),
        ownership(std::move(self)),
        address("unix:" + options.socket),
        hub(*parts.store),
        scheduler(MakeGainScheduler()),
        dispatcher(options.farm, parts.store, parts.clock, &farm_thread, [this] { loop.Tick(); }),
        metered_builder(*parts.builder, phase_seconds, build_counts),
        metered_measurer(dispatcher, phase_seconds),
        reporter(parts.store),
        loop(options.tuning, LoopParts()),
        desk(DeskParts()),
        gatekeeper(parts.store, parts.clock, [this](const Gatekeeper::Decision& decision) {
          if (audit_log != nullptr) audit_log->Note(decision);
        }) {}

  TuningParts LoopParts() {
    TuningParts of_loop;
    of_loop.store = parts.store;
    of_loop.lowerer = parts.lowerer;
    of_loop.builder = &metered_builder;
    of_loop.measurer = &metered_measurer;
    of_loop.scheduler = scheduler.get();
    of_loop.clock = parts.clock;
    of_loop.executor = &loop_thread;
    of_loop.planner = &planner_thread;
    of_loop.search = parts.search;
    of_loop.ownership = ownership;
    of_loop.on_waiting = [this](int64_t task, const std::string& signature,
                                const std::string& what) {
      reporter.SetWaiting(task, signature, what);
    };
    of_loop.is_private = options.client != 0;
    of_loop.on_fatal = [this](const absl::Status&) {
      if (parts.on_fatal) parts.on_fatal();
    };
    return of_loop;
  }

  JobDesk::Parts DeskParts() {
    JobDesk::Parts of_desk;
    of_desk.store = parts.store;
    of_desk.lowerer = parts.lowerer;
    of_desk.search = parts.search;
    of_desk.targets = [this] { return ConnectedTargets(dispatcher); };
    of_desk.submitted = [this](int64_t job, TaskContexts contexts) {
      loop.JobSubmitted(job, std::move(contexts));
    };
    of_desk.executor = &desk_thread;
    of_desk.ownership = ownership;
    of_desk.is_private = options.client != 0;
    of_desk.quota = options.quota;
    return of_desk;
  }

  const DaemonOptions options;
  DaemonParts parts;
  const tuning_db::Ownership ownership;
  const std::string address;
  EventHub hub;
  std::unique_ptr<TaskScheduler> scheduler;
  ThreadExecutor loop_thread;
  ThreadExecutor planner_thread;
  ThreadExecutor farm_thread;
  ThreadExecutor watch_thread;
  ThreadExecutor desk_thread;
  ThreadExecutor count_thread;
  PhaseSeconds phase_seconds;
  BuildCounts build_counts;
  RpcCounts rpc_counts;
  Dispatcher dispatcher;
  MeteredBuilder metered_builder;
  MeteredMeasurer metered_measurer;
  JobReporter reporter;
  TuningLoop loop;
  JobDesk desk;
  std::unique_ptr<Ticker> ticker;
  int64_t last_beat_ns = 0;  // of its thread
  std::unique_ptr<Ticker> renewer;
  // Who dials a Unix socket has a door; of the listener's thread.
  struct UserDoor {
    std::unique_ptr<Callers> callers;
    std::unique_ptr<Door> door;
  };
  std::unique_ptr<AuditLog> audit_log;  // nullptr: none is asked for
  std::map<uid_t, UserDoor> doors;
  std::unique_ptr<ClosedDoor> closed_door;  // of a private daemon
  Gatekeeper gatekeeper;
  std::unique_ptr<TlsDoor> tls_door;
  std::atomic<int> tls_port = 0;
  std::unique_ptr<Ticker> gate_ticker;
  std::unique_ptr<Ticker> quarantine_ticker;
  std::unique_ptr<UnixListener> listener;
  std::unique_ptr<MetricsServer> metrics;

  // To be called once there is a listener.
  absl::Status Serve();
  absl::Status ServeNetwork();
  // What is counted, asked of the parts; where one does not answer soon, without it.
  DaemonFigures Figures();
  std::optional<std::map<std::string, size_t>> JobsByState();
  // What looks at calls of those whom `callers` knows.
  CallInterceptors InterceptorsFor(const Callers* callers);
  void RefreshGate();
  // What operators put aside, as the store has it.
  absl::Status RefreshQuarantines();
  std::string AddressAt(int port) const;
  // The daemon is in time as the owner of its jobs for another while; a service takes over those
  // whose owner no longer is.
  void Renew();
  // Runs on the ticker's thread.
  void Beat();
  std::vector<std::unique_ptr<grpc::Service>> ServicesFor(Callers* callers);
  // The user's door, which is made where the user has not dialled before.
  absl::StatusOr<Door*> DoorOf(uid_t user);
  void Take(int fd, const Peer& peer);
};

Daemon::Daemon(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

const std::string& Daemon::address() const { return impl_->address; }

int Daemon::metrics_port() const { return impl_->metrics == nullptr ? 0 : impl_->metrics->port(); }

int Daemon::port() const { return impl_->tls_door == nullptr ? 0 : impl_->tls_door->port(); }

std::vector<std::unique_ptr<grpc::Service>> Daemon::Impl::ServicesFor(Callers* callers) {
  TuningServiceParts of_tuning;
  of_tuning.store = parts.store;
  of_tuning.lowerer = parts.lowerer;
  of_tuning.desk = &desk;
  of_tuning.reporter = &reporter;
  of_tuning.loop = &loop;
  of_tuning.hub = &hub;
  of_tuning.watchers = &watch_thread;
  of_tuning.phase_seconds = &phase_seconds;
  of_tuning.callers = callers;
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(MakeTuningService(of_tuning));
  services.push_back(MakeFarmService(&dispatcher, callers));
  services.push_back(MakeLogService(parts.store, &count_thread));
  AuthServiceParts of_auth;
  of_auth.store = parts.store;
  of_auth.clock = parts.clock;
  of_auth.changed = [this] { RefreshGate(); };
  of_auth.host_port = [this] { return tls_port == 0 ? "" : AddressAt(tls_port); };
  of_auth.certificate = options.certificate;
  if (options.tls) of_auth.certificate_file = options.tls->certificate_file;
  of_auth.callers = callers;
  services.push_back(MakeAuthService(std::move(of_auth)));
  return services;
}

CallInterceptors Daemon::Impl::InterceptorsFor(const Callers* callers) {
  CallInterceptors interceptors;
  if (!options.metrics.empty()) interceptors.push_back(rpc_counts.MakeInterceptors());
  if (audit_log != nullptr) {
    interceptors.push_back(MakeAuditInterceptors(audit_log.get(), callers));
  }
  return interceptors;
}

std::string Daemon::network_address() const {
  if (impl_->tls_door == nullptr) return "";
  return impl_->AddressAt(impl_->tls_door->port());
}

std::string Daemon::Impl::AddressAt(int port) const {
  return options.advertised.empty() ? fmt::format("{}:{}", HostName(), port) : options.advertised;
}

absl::StatusOr<Door*> Daemon::Impl::DoorOf(uid_t user) {
  UserDoor& of_user = doors[user];
  if (of_user.door != nullptr) return of_user.door.get();
  of_user.callers = std::make_unique<OneCaller>(Caller{
      .name = UserName(user), .identity = fmt::format("uid:{}", user), .role = Role::kAdmin});
  HONE_ASSIGN_OR_RETURN(of_user.door, Door::Open(ServicesFor(of_user.callers.get()),
                                                 InterceptorsFor(of_user.callers.get())));
  return of_user.door.get();
}

void Daemon::Impl::Take(int fd, const Peer& peer) {
  if (closed_door != nullptr && !IsOfClient(peer.process, options.client)) {
    spdlog::warn("refused a connection of process {}: this daemon is private to process {}",
                 peer.process, options.client);
    return closed_door->Take(fd);
  }
  const absl::StatusOr<Door*> door = DoorOf(peer.user);
  if (door.ok()) return (*door)->Take(fd);
  spdlog::error("refused a connection of process {}: {}", peer.process, door.status().ToString());
  close(fd);
}

void Daemon::Impl::Renew() {
  absl::Status renewed;
  if (options.client != 0) {
    renewed = parts.store->RenewJobs(ownership, options.tuning.owner_lease_ns).status();
  } else {
    // A store of one owner has none to take: they were all taken when the daemon started.
    const auto taken = parts.store->TakeJobs(ownership, options.tuning.owner_lease_ns);
    renewed = taken.status();
    if (taken.ok()) {
      std::vector<int64_t> ids;
      for (const tuning_db::Job& job : *taken) ids.push_back(job.id);
      loop.SeeOwners(ids);
    }
  }
  if (renewed.ok()) return;
  spdlog::error("this daemon does not renew its hold on its jobs: {}", renewed.ToString());
  if (!Passes(renewed) && parts.on_fatal) parts.on_fatal();
}

void Daemon::Impl::Beat() {
  const int64_t now_ns = parts.clock->NowNs();
  if (parts.beat_interval_ns == 0 || now_ns - last_beat_ns < parts.beat_interval_ns) return;
  last_beat_ns = now_ns;
  loop_thread.Post([this] { farm_thread.Post([this] { parts.beat(); }); });
}

absl::Status Daemon::Impl::Serve() {
  if (!options.audit_log.empty()) {
    HONE_ASSIGN_OR_RETURN(audit_log, AuditLog::Open(options.audit_log, parts.clock));
  }
  HONE_RETURN_IF_ERROR(DoorOf(geteuid()).status());
  if (options.client != 0) {
    HONE_ASSIGN_OR_RETURN(closed_door, ClosedDoor::Open(options.client));
  }
  listener->Serve([this](int fd, const Peer& peer) { Take(fd, peer); });
  return options.tls ? ServeNetwork() : absl::OkStatus();
}

absl::Status Daemon::Impl::ServeNetwork() {
  HONE_RETURN_IF_ERROR(gatekeeper.Refresh());
  HONE_ASSIGN_OR_RETURN(tls_door, TlsDoor::Open(*options.tls, &gatekeeper, ServicesFor(&gatekeeper),
                                                InterceptorsFor(&gatekeeper)));
  tls_port = tls_door->port();
  // Another daemon on the same database may have let somebody in, or out.
  gate_ticker = std::make_unique<Ticker>(kGateMs, [this] { RefreshGate(); });
  return absl::OkStatus();
}

void Daemon::Impl::RefreshGate() {
  const absl::Status refreshed = gatekeeper.Refresh();
  if (!refreshed.ok()) spdlog::error("who may call is not read anew: {}", refreshed.ToString());
}

std::optional<std::map<std::string, size_t>> Daemon::Impl::JobsByState() {
  using tuning_db::JobState;
  const std::vector<JobState> open = {JobState::kQueued, JobState::kRunning, JobState::kPaused};
  std::map<std::string, size_t> jobs;
  for (const JobState state : open) jobs[std::string(Name(state))] = 0;
  std::string cursor;
  for (bool is_last = false; !is_last;) {
    const auto page =
        parts.store->ListJobs({.states = open}, tuning_db::Order::kOldestFirst, cursor, kJobsAPage);
    if (!page.ok()) return std::nullopt;
    for (const tuning_db::Job& job : page->jobs) jobs[std::string(Name(job.state))] += 1;
    cursor = page->next;
    is_last = page->is_last;
  }
  return jobs;
}

DaemonFigures Daemon::Impl::Figures() {
  // It may answer after this has returned.
  auto promise = std::make_shared<std::promise<FarmFigures>>();
  std::future<FarmFigures> farm = promise->get_future();
  dispatcher.Figures([promise](FarmFigures figures) { promise->set_value(std::move(figures)); });
  DaemonFigures figures;
  figures.version = Version();
  figures.jobs = JobsByState();
  figures.jobs_ended = loop.JobsEnded();
  figures.builds = build_counts.Read();
  figures.phase_seconds = phase_seconds.Snapshot();
  figures.commits = parts.store->Commits();
  figures.threads = {{"loop", loop_thread.size()},
                     {"planner", planner_thread.size()},
                     {"farm", farm_thread.size()},
                     {"watch", watch_thread.size()},
                     {"desk", desk_thread.size()}};
  figures.rpcs = rpc_counts.Read();
  figures.process = ReadProcessFigures();
  if (farm.wait_for(kFiguresLimit) == std::future_status::ready) figures.farm = farm.get();
  return figures;
}

absl::Status Daemon::Impl::RefreshQuarantines() {
  const int64_t change = dispatcher.QuarantineChange();
  HONE_ASSIGN_OR_RETURN(std::vector<tuning_db::Quarantine> all, parts.store->ListQuarantines());
  dispatcher.SetQuarantines(std::move(all), change);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(DaemonOptions options, DaemonParts parts) {
  HONE_RETURN_IF_ERROR(PrepareSocket(options.socket));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<UnixListener> listener,
                        UnixListener::Listen(options.socket));
  HONE_ASSIGN_OR_RETURN(
      tuning_db::Ownership self,
      parts.store->BeginEpoch(OwnerName(options, *parts.store), options.tuning.owner_lease_ns));
  // The jobs of a service are left to it (decision 14).
  if (options.client == 0) {
    HONE_RETURN_IF_ERROR(parts.store->TakeJobs(self, options.tuning.owner_lease_ns).status());
  }
  if (options.client == 0) options.farm.ownership = self;
  std::unique_ptr<Daemon> daemon(
      new Daemon(std::make_unique<Impl>(std::move(options), std::move(parts), std::move(self))));
  Impl& impl = *daemon->impl_;
  impl.listener = std::move(listener);
  // Open leases are known before a worker can speak of them.
  impl.loop.Begin();
  impl.loop_thread.Drain();
  HONE_RETURN_IF_ERROR(impl.RefreshQuarantines());
  impl.farm_thread.Drain();
  HONE_RETURN_IF_ERROR(impl.Serve());
  // Another daemon on the same database may have been told of one.
  if (impl.parts.store->HasManyOwners()) {
    impl.quarantine_ticker = std::make_unique<Ticker>(kQuarantinesMs, [&impl] {
      const absl::Status refreshed = impl.RefreshQuarantines();
      if (refreshed.ok()) return;
      spdlog::error("who is in quarantine is not read anew: {}", refreshed.ToString());
    });
  }
  if (!impl.options.metrics.empty()) {
    HONE_ASSIGN_OR_RETURN(impl.metrics, MetricsServer::Start(impl.options.metrics, [&impl] {
                            return MetricsOf(impl.Figures());
                          }));
  }
  impl.ticker = std::make_unique<Ticker>(kTickMs, [&impl] {
    impl.loop.Tick();
    impl.dispatcher.Tick();
    impl.Beat();
  });
  const auto renew_ms = static_cast<int>(impl.options.tuning.owner_lease_ns / 3'000'000);
  impl.renewer = std::make_unique<Ticker>(renew_ms, [&impl] { impl.Renew(); });
  return daemon;
}

Daemon::~Daemon() {
  Impl& impl = *impl_;
  impl.metrics.reset();
  impl.renewer.reset();
  impl.quarantine_ticker.reset();
  impl.ticker.reset();
  impl.loop.Stop();
  impl.dispatcher.StopLeasing();
  impl.dispatcher.CloseAll();
  impl.listener->Stop();
  impl.gate_ticker.reset();
  impl.tls_door.reset();
  impl.doors.clear();
  impl.listener.reset();
  impl.farm_thread.Drain();
  impl.planner_thread.Stop();
  // The loop may be handing requests to the builder: it has stopped once this is through.
  impl.loop_thread.Drain();
  impl.parts.builder.reset();  // answers what is open, to the loop
  impl.loop_thread.Stop();
  impl.farm_thread.Stop();
  impl.watch_thread.Stop();
  impl.desk_thread.Stop();
  impl.count_thread.Stop();
  // Its client had no time for it, or was killed.
  if (impl.options.client == 0) return;
  const auto ended = tuning_db::EndPrivateJobs(*impl.parts.store, *impl.parts.clock);
  if (!ended.ok()) {
    spdlog::error("jobs are left to the next daemon to cancel: {}", ended.status().ToString());
  }
}

}  // namespace hone::tuner
