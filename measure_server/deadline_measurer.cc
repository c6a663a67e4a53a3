#include "measure_server/deadline_measurer.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "support/clock.h"

namespace hone::measure {

DeadlineMeasurer::DeadlineMeasurer(std::unique_ptr<Measurer> inner)
    : MeasurerDecorator(std::move(inner)), watching_([this] { Watch(); }) {}

DeadlineMeasurer::~DeadlineMeasurer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  watching_.join();
}

hone::v1::MeasureResult DeadlineMeasurer::Measure(const Job& job) {
  const int64_t lease_ns = job.assignment.lease_ns();
  if (lease_ns <= 0) return inner().Measure(job);
  Arm(job.assignment.fence(), Clock::Real().NowNs() + lease_ns);
  hone::v1::MeasureResult result = inner().Measure(job);
  if (!Disarm()) return result;
  return FailedResult(
      job.assignment,
      absl::DeadlineExceededError(fmt::format(
          "expected a measurement within the {} s of its lease, ended it when they were over",
          lease_ns / 1'000'000'000)));
}

void DeadlineMeasurer::Arm(int64_t fence, int64_t end_ns) {
  {
    const std::lock_guard lock(mutex_);
    fence_ = fence;
    end_ns_ = end_ns;
    is_overdue_ = false;
  }
  changed_.notify_one();
}

bool DeadlineMeasurer::Disarm() {
  const std::lock_guard lock(mutex_);
  end_ns_ = 0;
  return is_overdue_;
}

void DeadlineMeasurer::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (end_ns_ == 0) {
      changed_.wait(lock);
      continue;
    }
    const int64_t left_ns = end_ns_ - Clock::Real().NowNs();
    if (left_ns > 0) {
      changed_.wait_for(lock, std::chrono::nanoseconds(left_ns));
      continue;
    }
    end_ns_ = 0;
    is_overdue_ = true;
    inner().Cancel(fence_);
  }
}

}  // namespace hone::measure
