// How calls ended, by method and status.
#ifndef HONE_TUNER_SERVICE_RPC_COUNTS_H_
#define HONE_TUNER_SERVICE_RPC_COUNTS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace grpc {
class ServerBuilder;
}

namespace hone::tuner {

// Thread-safe.
class RpcCounts {
 public:
  using Counts = std::map<std::pair<std::string, std::string>, uint64_t>;  // by method and code

  // `method`: "/hone.v1.FarmService/ListWorkers". Those that nobody serves count as one, "other":
  // callers choose names.
  void Add(std::string_view method, absl::StatusCode code);
  Counts Read() const;

  // Calls of the server that is built end in these counts, which outlive it.
  void CountCallsOf(grpc::ServerBuilder& builder);

 private:
  mutable std::mutex mutex_;
  Counts counts_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_RPC_COUNTS_H_
