#include "transport/grpc_log.h"

#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "support/clock.h"

namespace hone {
namespace {

constexpr int64_t kWindowNs = 10'000'000'000;
constexpr int kMostInWindow = 5;

// What one place in gRPC's code says. Strangers who dial make it say much, and must not fill a
// disk.
struct Place {
  int64_t began_ns = 0;
  int said = 0;  // since then
};

// Whether the place may say one more thing; *swallowed: how many it could not before this one.
bool MaySay(const char* file, int line, int* swallowed) {
  static std::mutex mutex;
  static auto* const places = new std::map<std::pair<std::string, int>, Place>();
  const int64_t now_ns = Clock::Real().NowNs();
  const std::lock_guard lock(mutex);
  Place& place = (*places)[{file, line}];
  if (place.said == 0 || now_ns - place.began_ns >= kWindowNs) {
    *swallowed = std::max(0, place.said - kMostInWindow);
    place = {.began_ns = now_ns, .said = 0};
  }
  return ++place.said <= kMostInWindow;
}

spdlog::level::level_enum LevelOf(gpr_log_severity severity) {
  switch (severity) {
    case GPR_LOG_SEVERITY_ERROR:
      return spdlog::level::err;
    case GPR_LOG_SEVERITY_INFO:
      return spdlog::level::info;
    default:
      return spdlog::level::debug;
  }
}

}  // namespace

void LogWhatGrpcSays() {
  gpr_set_log_function([](gpr_log_func_args* said) {
    const spdlog::level::level_enum level = LevelOf(said->severity);
    int swallowed = 0;
    if (!spdlog::should_log(level) || !MaySay(said->file, said->line, &swallowed)) return;
    if (swallowed > 0) spdlog::log(level, "gRPC: {} more like the next one", swallowed);
    spdlog::log(level, "gRPC: {}", said->message);
  });
}

}  // namespace hone
