#include "measure_server/measured_cores.h"

#include <vector>

#include "runtime/thread_team.h"
#include "support/spare_cores.h"

namespace hone::measure {

bool TakeWatcherPriority() {
  const sched_param priority{.sched_priority = kWatcherPriority};
  return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0;
}

MovedThread::~MovedThread() {
  if (is_moved_) sched_setaffinity(0, sizeof(before_), &before_);
}

bool MovedThread::Remember() { return sched_getaffinity(0, sizeof(before_), &before_) == 0; }

OnMeasuredCores::OnMeasuredCores(int threads) {
  if (sched_getscheduler(0) != (SCHED_FIFO | SCHED_RESET_ON_FORK)) return;
  if (!Remember()) return;
  const std::vector<int> cores = UsableCores();
  cpu_set_t measured;
  CPU_ZERO(&measured);
  for (size_t i = 0; i < cores.size(); ++i) {
    if (i + static_cast<size_t>(threads) >= cores.size()) CPU_SET(cores[i], &measured);
  }
  is_moved_ = sched_setaffinity(0, sizeof(measured), &measured) == 0;
}

OffMeasuredCores::OffMeasuredCores(int threads) {
  if (threads > 0 && Remember()) is_moved_ = LeaveLastCores(threads);
}

}  // namespace hone::measure
