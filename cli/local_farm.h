// The daemon and the worker of a local tune: the same programs as on a farm, for as long as the
// verb runs.
#ifndef HONE_CLI_LOCAL_FARM_H_
#define HONE_CLI_LOCAL_FARM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "support/child_process.h"

namespace hone::cli {

// `honed --embedded` on the database and one `hone-measure`, over a Unix socket in a private
// folder. Both end with this process, however it ends. Not thread-safe.
class LocalFarm {
 public:
  struct Options {
    std::string database;
    int threads = 1;     // of the worker's measurements
    std::string target;  // canonical text of what it measures code for; this machine runs it
  };
  // kFailedPrecondition when another daemon holds the database.
  static absl::StatusOr<std::unique_ptr<LocalFarm>> Start(const Options& options);
  ~LocalFarm();

  // For gRPC: "unix:PATH".
  const std::string& address() const { return address_; }
  // kUnavailable, naming it, when a program has ended.
  absl::Status CheckAlive();
  pid_t daemon_pid() const { return daemon_->pid(); }
  pid_t worker_pid() const { return worker_->pid(); }

 private:
  LocalFarm() = default;

  std::string folder_;
  std::string address_;
  std::unique_ptr<ChildProcess> daemon_;
  std::unique_ptr<ChildProcess> worker_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_LOCAL_FARM_H_
