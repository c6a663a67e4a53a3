// The client side of FarmService for operators: lists workers, drains them, and sets quarantines.
#ifndef HONE_CLI_FARM_CLIENT_H_
#define HONE_CLI_FARM_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/farm.pb.h"

namespace hone::cli {

struct ListedWorkers {
  std::vector<v1::WorkerInfo> workers;  // by name
  std::vector<v1::Quarantine> of_gone;  // of workers that are not connected
};

// Calls one daemon at `address` (as ReadServerAddress takes it). kUnavailable when it cannot be
// reached. Not thread-safe.
class FarmClient {
 public:
  explicit FarmClient(const std::string& address);
  ~FarmClient();

  // Returns all connected workers; or the named one, with all that is known of it.
  absl::StatusOr<ListedWorkers> Workers(const std::string& worker = "");
  // kNotFound where no such worker is connected.
  absl::Status Drain(const std::string& worker);
  // The answers to these three are described in farm.proto.
  absl::Status Undrain(const std::string& worker);
  absl::StatusOr<v1::QuarantineWorkerResponse> Quarantine(
      const v1::QuarantineWorkerRequest& request);
  absl::StatusOr<v1::ReleaseWorkerResponse> Release(const v1::ReleaseWorkerRequest& request);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_FARM_CLIENT_H_
