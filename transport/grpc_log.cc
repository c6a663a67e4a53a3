#include "transport/grpc_log.h"

#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

namespace hone {
namespace {

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
    spdlog::log(LevelOf(said->severity), "gRPC: {}", said->message);
  });
}

}  // namespace hone
