#include "tests/farm_simulator/sim_daemon.h"

#include <utility>

namespace hone::sim {

namespace {
constexpr int64_t kTickNs = 250 * kMillisecond;
// Wall clocks of simulations show about this: a time of this century, as records have.
constexpr int64_t kWallNs = 500'000 * kHour;
}  // namespace

SimDaemon::SimDaemon(DaemonParts parts)
    : parts_(std::move(parts)),
      clock_(parts_.queue, parts_.queue->Between(1, 1000 * kHour)),
      executor_(parts_.queue, life_) {
  parts_.store->Serve(life_, [this] { Kill(); });
  tuner::DispatcherOptions options;
  options.lease_slack_ns = kLeaseSlackNs;
  JumpClock();
  parts_.history->push_back({.at_ns = parts_.queue->now_ns(), .what = What::kDaemonUp});
  dispatcher_ =
      std::make_unique<tuner::Dispatcher>(options, parts_.store, &clock_, &executor_, [this] {
        if (jobs_ != nullptr) jobs_->Tick();
      });
  JobLayerParts job_parts;
  job_parts.store = parts_.store;
  job_parts.measurer = dispatcher_.get();
  job_parts.clock = &clock_;
  job_parts.executor = &executor_;
  job_parts.on_fatal = [this] { Kill(); };  // honed exits
  jobs_ = parts_.runs_loop ? MakeLoopJobs(job_parts) : MakeDirectJobs(job_parts);
  jobs_->Resume();
  // A daemon takes up what is open before it serves anybody.
  executor_.Post([this] { parts_.network->Listen(dispatcher_.get(), life_); });
  Tick();
}

SimDaemon::~SimDaemon() { Kill(); }

void SimDaemon::Kill() {
  if (life_->is_over()) return;
  life_->End();
  parts_.history->push_back({.at_ns = parts_.queue->now_ns(), .what = What::kDaemonDown});
  parts_.network->Listen(nullptr, nullptr);
}

void SimDaemon::JumpClock() { clock_.SetWall(kWallNs + parts_.queue->Between(-kHour, kHour)); }

void SimDaemon::Tick() {
  parts_.queue->After(kTickNs, life_, [this] {
    if (++ticks_ % parts_.ticks_every == 0) dispatcher_->Tick();
    jobs_->Tick();
    Tick();
  });
}

}  // namespace hone::sim
