// Counts how calls ended, by method and status.
#ifndef HONE_TUNER_SERVICE_RPC_COUNTS_H_
#define HONE_TUNER_SERVICE_RPC_COUNTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "tuner/service/call_interceptors.h"

namespace hone::tuner {

// Thread-safe.
class RpcCounts {
 public:
  using Counts = std::map<std::pair<std::string, std::string>, uint64_t>;  // by method and code

  // `method` is like "/hone.v1.FarmService/ListWorkers". Methods that nobody serves are counted
  // together as "other", because callers choose their names.
  void Add(std::string_view method, absl::StatusCode code);
  Counts Read() const;

  // Interceptors for a server: how its calls end is added to these counts, which outlive it.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeInterceptors();

 private:
  mutable std::mutex mutex_;
  Counts counts_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_RPC_COUNTS_H_
