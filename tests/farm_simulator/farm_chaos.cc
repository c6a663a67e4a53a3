// What goes wrong in a farm, and when.
#include <utility>

#include "tests/farm_simulator/farm.h"

namespace hone::sim {

void Farm::Sometime(std::function<void()> what) {
  queue_.After(queue_.Between(0, scenario_.chaos_ns), [this, what = std::move(what)] {
    if (is_chaos_) what();
  });
}

void Farm::PlanChaos() {
  PlanWorkerChaos();
  PlanNetworkChaos();
  PlanStorageChaos();
  if (scenario_.Has(Fault::kClocks)) {
    for (int i = 0; i < 5; ++i) {
      Sometime([this] {
        if (daemon_ != nullptr) daemon_->JumpClock();
      });
    }
  }
  if (scenario_.Has(Fault::kDaemonKills)) {
    store_->weather.kill_share = 0.001;
    for (int i = 0; i < scenario_.daemon_kills; ++i) {
      Sometime([this] {
        if (daemon_ != nullptr) daemon_->Kill();
      });
    }
  }
  queue_.After(scenario_.chaos_ns, [this] { EndChaos(); });
}

void Farm::PlanWorkerChaos() {
  const int some = scenario_.workers / 2 + 1;
  if (scenario_.Has(Fault::kWorkerKills)) {
    for (int i = 0; i < some; ++i) Sometime([this] { AnyWorker().Kill(); });
  }
  if (scenario_.Has(Fault::kDrains)) {
    for (int i = 0; i < some / 2 + 1; ++i) Sometime([this] { AnyWorker().Drain(); });
    Sometime([this] {
      if (daemon_ == nullptr || daemon_->is_dead()) return;
      daemon_->dispatcher().DrainWorker(AnyWorker().traits().name, [](const absl::Status &) {});
    });
  }
  if (scenario_.Has(Fault::kDevices)) {
    for (int i = 0; i < some / 2 + 1; ++i) {
      Sometime([this] {
        SimWorker &worker = AnyWorker();
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
      Sometime([this] { AnyWorker().DialTwice(); });
      Sometime([this] { network_.BreakOne(); });
    }
  }
}

void Farm::PlanStorageChaos() {
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
}

}  // namespace hone::sim
