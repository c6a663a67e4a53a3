#include "bench/load_bench/load_daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <utility>

#include "bench/load_bench/null_tuner.h"
#include "support/clock.h"
#include "tuner/service/daemon.h"
#include "tuning_db/store.h"

namespace hone::bench {
namespace {

int Fail(const absl::Status& status) {
  fmt::print(stderr, "load_bench: {}\n", status.ToString());
  return 1;
}

}  // namespace

int RunLoadDaemon(const LoadDaemonOptions& options) {
  // Blocked before there are threads, which inherit it: only sigwait takes them.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  spdlog::set_level(spdlog::level::warn);

  const auto store = tuning_db::OpenSqliteStore(options.database, tuning_db::OpenMode::kCreate,
                                                {.address = "unix:" + options.socket});
  if (!store.ok()) return Fail(store.status());
  NullLowerer lowerer;
  NullSearch search;
  tuner::DaemonOptions of_daemon;
  of_daemon.socket = options.socket;
  tuner::DaemonParts parts;
  parts.store = store->get();
  parts.lowerer = &lowerer;
  parts.builder = std::make_unique<NullBuilder>(options.artifact_bytes);
  parts.search = [&search](const std::string& name) {
    return name == kNullSearch ? &search : nullptr;
  };
  parts.clock = &Clock::Real();
  parts.on_fatal = [] { kill(getpid(), SIGTERM); };
  const auto daemon = tuner::Daemon::Start(std::move(of_daemon), std::move(parts));
  if (!daemon.ok()) return Fail(daemon.status());
  fmt::print("ready {}\n", (*daemon)->address());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stop, &signal);
  return 0;
}

}  // namespace hone::bench
