#include "tuner/jobs/loop_context.h"

#include <spdlog/spdlog.h>

namespace hone::tuner {

void LoopContext::Fatal(const absl::Status& status) {
  spdlog::critical("the tuning database fails, tuning stops: {}", status.ToString());
  stopped = true;
  if (parts.on_fatal) parts.on_fatal(status);
}

}  // namespace hone::tuner
