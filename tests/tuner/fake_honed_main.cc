// honed with a fake compiler, for tests that kill it: fake_honed DATABASE SOCKET. Store, loop,
// dispatcher, builder pool and services are the real ones.
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "support/child_process.h"
#include "tests/tuner/fakes.h"
#include "tuner/builder/client/builder_pool.h"
#include "tuner/service/daemon.h"

namespace hone::tuner {
namespace {

int Main(const std::string& database, const std::string& socket) {
  auto store =
      tuning_db::OpenStore(database, tuning_db::OpenMode::kCreate, {.address = "unix:" + socket});
  if (!store.ok()) {
    spdlog::error("{}", store.status().ToString());
    return 7;
  }
  FakeLowerer lowerer;
  FakeSearch search;
  DaemonOptions options;
  options.socket = socket;
  options.farm.heartbeat_interval_ns = 200'000'000;
  options.farm.grace_ns = 300'000'000;
  // The same trial may be hit by chance.
  options.farm.poison_limit = 1000;
  options.tuning.builder_attempts = 1000;
  options.tuning.owner_lease_ns = 600'000'000;
  DaemonParts parts;
  parts.store = store->get();
  parts.lowerer = &lowerer;
  parts.builder = std::make_unique<BuilderPool>(
      BuilderPool::Options{.executable = ExecutableFolder() + "/fake_builder"});
  parts.search = [&](const std::string&) { return &search; };
  parts.clock = &Clock::Real();
  const auto daemon = Daemon::Start(std::move(options), std::move(parts));
  if (!daemon.ok()) {
    spdlog::error("{}", daemon.status().ToString());
    return 1;
  }
  std::printf("ready %s\n", (*daemon)->address().c_str());
  std::fflush(stdout);
  pause();  // until it is killed
  return 0;
}

}  // namespace
}  // namespace hone::tuner

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  spdlog::set_level(spdlog::level::err);
  return hone::tuner::Main(argv[1], argv[2]);
}
