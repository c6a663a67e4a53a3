// The client side of FarmService, for people: who measures, and who shall leave.
#ifndef HONE_CLI_FARM_CLIENT_H_
#define HONE_CLI_FARM_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/farm.pb.h"

namespace hone::cli {

// Calls one daemon at `address` (as ReadServerAddress takes it). kUnavailable when it cannot be
// reached. Not thread-safe.
class FarmClient {
 public:
  explicit FarmClient(const std::string& address);
  ~FarmClient();

  // All that are connected, by name.
  absl::StatusOr<std::vector<v1::WorkerInfo>> Workers();
  // kNotFound where no such worker is connected.
  absl::Status Drain(const std::string& worker);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_FARM_CLIENT_H_
