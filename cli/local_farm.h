// The daemon and the worker of a local tune: the same programs as on a farm, for as long as the
// verb runs.
#ifndef HONE_CLI_LOCAL_FARM_H_
#define HONE_CLI_LOCAL_FARM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "support/child_process.h"
#include "support/scratch_folder.h"

namespace hone::cli {

// `honed --embedded` on the database and one `hone-measure`, over a Unix socket in a private
// folder. Both end with this process, however it ends, and serve nobody else (decision 0014). Not
// thread-safe.
class LocalFarm {
 public:
  struct Options {
    std::string database;
    int threads = 1;                        // of the worker's measurements
    std::vector<std::string> worker_flags;  // what it measures on, and for (WorkerFlags)
    // Returns true to end the start, or the waiting for the database, with kCancelled; called
    // several times a second.
    std::function<bool()> stop = [] { return false; };
    // Called once if another tune has the database, so that the start waits until that has ended.
    std::function<void()> on_wait = [] {};
    // Called at most once, if the daemon has been opening the database for seconds.
    std::function<void()> on_slow_start = [] {};
  };
  // kFailedPrecondition when the daemon does not start, as when a service holds the database.
  static absl::StatusOr<std::unique_ptr<LocalFarm>> Start(const Options& options);
  // Ends both programs, and with them their unfinished jobs.
  ~LocalFarm();

  // The daemon's address for gRPC, "unix:PATH".
  const std::string& address() const { return address_; }
  // kUnavailable if one of the two programs has ended; the message names it.
  absl::Status CheckAlive();

 private:
  explicit LocalFarm(std::string database) : database_(std::move(database)) {}
  absl::Status AwaitReady(const Options& options);

  const std::string database_;
  std::optional<ScratchFolder> folder_;  // of the socket; the daemon removes it, too, when it ends
  std::string address_;
  std::unique_ptr<ChildProcess> daemon_;
  std::unique_ptr<ChildProcess> worker_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_LOCAL_FARM_H_
