// What goes wrong in a farm, and when.
#include <utility>

#include "tests/farm_simulator/farm.h"

namespace hone::sim {

void Farm::Sometime(std::function<void()> what) {
  queue_.After(queue_.Between(0, scenario_.chaos_ns), [this, what = std::move(what)] {
    if (is_chaos_) what();
  });
}

void Farm::Note(Fault fault, const std::string &worker) {
  history_.push_back({.at_ns = queue_.now_ns(),
                      .what = What::kFault,
                      .worker = worker,
                      .text = std::string(Name(fault))});
}

void Farm::KillWorker(SimWorker &worker) {
  if (!is_chaos_) return;
  if (!worker.is_up()) {
    queue_.After(kSecond, [this, &worker] { KillWorker(worker); });
    return;
  }
  Note(Fault::kWorkerKills, worker.traits().name);
  worker.Kill();
}

void Farm::KillDaemon() {
  if (!is_chaos_) return;
  // One that has nothing to do would show nothing.
  if (daemon_ == nullptr || daemon_->is_dead() || AllEnded()) {
    queue_.After(queue_.Between(0, scenario_.chaos_ns / 10), [this] { KillDaemon(); });
    return;
  }
  Note(Fault::kDaemonKills);
  daemon_->Kill();
}

void Farm::CancelJob(int64_t id) {
  if (daemon_ == nullptr || daemon_->is_dead()) return;
  if (!HasEnded(store_->GetJob(id).value().state)) Note(Fault::kCancels);
  daemon_->jobs().CancelJob(id);
}

void Farm::PlanChaos() {
  PlanWorkerChaos();
  PlanNetworkChaos();
  PlanStorageChaos();
  if (scenario_.Has(Fault::kClocks)) {
    for (int i = 0; i < 5; ++i) {
      Sometime([this] {
        if (daemon_ == nullptr) return;
        Note(Fault::kClocks);
        daemon_->JumpClock();
      });
    }
  }
  if (scenario_.Has(Fault::kDaemonKills)) {
    store_->weather.kill_share = 0.001;
    for (int i = 0; i < scenario_.daemon_kills; ++i) Sometime([this] { KillDaemon(); });
  }
  queue_.After(scenario_.chaos_ns, [this] { EndChaos(); });
}

void Farm::PlanWorkerChaos() {
  const int some = scenario_.workers / 2 + 1;
  if (scenario_.Has(Fault::kWorkerKills)) {
    const size_t first = queue_.random().Below(workers_.size());
    for (size_t i = 0; i < static_cast<size_t>(some); ++i) {
      SimWorker &worker = *workers_[(first + i) % workers_.size()];
      Sometime([this, &worker] { KillWorker(worker); });
    }
  }
  if (scenario_.Has(Fault::kDrains)) {
    for (int i = 0; i < some / 2 + 1; ++i) {
      Sometime([this] {
        SimWorker &worker = AnyWorker();
        if (worker.is_up()) Note(Fault::kDrains, worker.traits().name);
        worker.Drain();
      });
    }
    Sometime([this] {
      if (daemon_ == nullptr || daemon_->is_dead()) return;
      const std::string &worker = AnyWorker().traits().name;
      daemon_->dispatcher().DrainWorker(worker, [this, worker](const absl::Status &drains) {
        if (drains.ok()) Note(Fault::kDrains, worker);
      });
    });
  }
  if (scenario_.Has(Fault::kDevices)) {
    for (int i = 0; i < some / 2 + 1; ++i) {
      Sometime([this] {
        SimWorker &worker = AnyWorker();
        if (worker.is_up()) Note(Fault::kDevices, worker.traits().name);
        worker.Unplug();
        queue_.After(queue_.Between(0, 20 * kSecond), [&worker] { worker.Replug(); });
      });
    }
  }
}

void Farm::PlanNetworkChaos() {
  const int some = scenario_.workers / 2 + 1;
  if (scenario_.Has(Fault::kResets)) {
    network_.weather.break_share = scenario_.reset_share;
    for (int i = 0; i < some; ++i) Sometime([this] { network_.BreakOne(); });
  }
  if (scenario_.Has(Fault::kDuplicates)) network_.weather.repeat_share = 0.1;
  if (scenario_.Has(Fault::kBlackHoles)) {
    for (int i = 0; i < some; ++i) {
      Sometime([this] {
        network_.BlackHole(AnyWorker().traits().name,
                           queue_.now_ns() + queue_.Between(kSecond, 40 * kSecond));
      });
    }
  }
  if (scenario_.Has(Fault::kStragglers)) {
    network_.weather.straggle_share = 0.5;
    network_.weather.most_delay_ns = 500 * kMillisecond;
    for (int i = 0; i < some; ++i) {
      Sometime([this] {
        SimWorker &worker = AnyWorker();
        if (worker.is_up()) Note(Fault::kStragglers, worker.traits().name);
        worker.DialTwice();
      });
      Sometime([this] { network_.BreakOne(); });
    }
  }
}

void Farm::PlanStorageChaos() {
  if (scenario_.Has(Fault::kBusyStore)) {
    // No longer than a lease may be open after its time.
    for (int i = 0; i < 10; ++i) {
      Sometime([this] {
        store_->weather.is_busy = true;
        queue_.After(queue_.Between(20 * kMillisecond, kSecond),
                     [this] { store_->weather.is_busy = false; });
      });
    }
  }
  if (!scenario_.Has(Fault::kStorage)) return;
  store_->weather.fail_share = 0.002;
  Sometime([this] {
    store_->weather.is_full = true;
    queue_.After(queue_.Between(kSecond, 15 * kSecond),
                 [this] { store_->weather.is_full = false; });
  });
}

void Farm::EndChaos() {
  is_chaos_ = false;
  store_->weather.is_full = false;
  store_->weather.fail_share = 0;
  store_->weather.kill_share = 0;
  network_.weather.break_share = 0;
  network_.weather.straggle_share = 0;
  network_.weather.repeat_share = 0;
}

}  // namespace hone::sim
