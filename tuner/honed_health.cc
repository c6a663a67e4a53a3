#include "tuner/honed_health.h"

#include <grpcpp/channel.h>

#include <chrono>

#include "hone/v1/farm.grpc.pb.h"
#include "support/status.h"
#include "transport/dial.h"

namespace hone::tuner {

absl::StatusOr<int> AskHealth(const std::string& socket, int64_t limit_ns) {
  const DaemonConnection connection(
      ServerAddress{.socket = socket, .host_port = {}, .certificate = {}, .token = {}});
  const auto stub = v1::FarmService::NewStub(connection.channel());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::nanoseconds(limit_ns));
  v1::ListWorkersResponse workers;
  HONE_RETURN_IF_ERROR(connection.StatusOf(stub->ListWorkers(&context, {}, &workers)));
  return workers.workers_size();
}

}  // namespace hone::tuner
