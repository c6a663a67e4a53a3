#include "transport/grpc_log.h"

#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "support/clock.h"
#include "support/log_budget.h"

namespace hone {
namespace {

constexpr int64_t kWindowNs = 10'000'000'000;
constexpr int kMostInWindow = 5;

// Whether this place in gRPC's code may say one more thing; *swallowed as LogBudget has it.
bool MaySay(const char* file, int line, int* swallowed) {
  static std::mutex mutex;
  static auto* const budgets = new std::map<std::pair<std::string, int>, LogBudget>();
  const std::lock_guard lock(mutex);
  LogBudget& budget = budgets->try_emplace({file, line}, kMostInWindow, kWindowNs).first->second;
  return budget.Spend(Clock::Real().NowNs(), swallowed);
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

// gRPC's server says it of every client that dials by a name or address that is not in the
// certificate (its SNI). Ours compare no names, and farms dial addresses: nothing is wrong.
constexpr std::string_view kOtherName = "No match found for server name: ";

// The name itself may be anything that a stranger sends.
void SayOnceThatNamesAreNotCompared() {
  static std::once_flag once;
  std::call_once(once, [] {
    spdlog::info(
        "a client dialled by an address that the certificate does not name, and may: clients trust "
        "the certificate that their join string pins, whatever the name (said once)");
  });
}

}  // namespace

void LogWhatGrpcSays() {
  gpr_set_log_function([](gpr_log_func_args* said) {
    const std::string_view message = said->message;
    if (message.starts_with(kOtherName)) return SayOnceThatNamesAreNotCompared();
    const spdlog::level::level_enum level = LevelOf(said->severity);
    int swallowed = 0;
    if (!spdlog::should_log(level) || !MaySay(said->file, said->line, &swallowed)) return;
    if (swallowed > 0) spdlog::log(level, "gRPC: {} more like the next one", swallowed);
    spdlog::log(level, "gRPC: {}", said->message);
  });
}

}  // namespace hone
