// The small process that forks a child for every candidate. It is forked itself before the worker
// has any thread, so that forking stays cheap and safe.
#ifndef HONE_MEASURE_SERVER_ZYGOTE_H_
#define HONE_MEASURE_SERVER_ZYGOTE_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure_server/run_session.h"

namespace hone::measure {

// Runs candidates in processes of their own. One Run at a time.
class CandidateRunner {
 public:
  virtual ~CandidateRunner() = default;
  // One report for each artifact, each with an outcome. kUnavailable: this runner is gone for good.
  virtual absl::StatusOr<std::vector<RunReport>> Run(const RunRequest& request, int reference_fd,
                                                     const std::vector<int>& artifact_fds) = 0;
  // Called from any thread. A Run of this lease ends at once, its candidates as lost; one that is
  // still to begin does so then. Without a lease (0) the Run in progress ends, if it has none.
  virtual void Cancel(int64_t lease) = 0;
};

class Zygote : public CandidateRunner {
 public:
  // What a run may take beyond the limits of its candidates, for each: forking and checking them.
  static constexpr int64_t kPatienceNs = 30'000'000'000;

  struct Options {
    SandboxLevel level = SandboxLevel::kStrict;
    // That candidates run on, as hone::FindDevice takes it. No process but theirs loads its driver.
    std::string device = kHostDevice;
    // The folder for files of the device's driver, which lasts as long as the zygote; empty: none.
    std::string driver_files = {};
    int64_t patience_ns = kPatienceNs;
  };
  // To be called while the process has one thread. The zygote dies with the calling thread's
  // process.
  static absl::StatusOr<std::unique_ptr<Zygote>> Start(const Options& options);
  ~Zygote() override;

  pid_t pid() const { return pid_; }

  absl::StatusOr<std::vector<RunReport>> Run(const RunRequest& request, int reference_fd,
                                             const std::vector<int>& artifact_fds) override;
  void Cancel(int64_t lease) override;

 private:
  Zygote(pid_t pid, int socket, int cancel_fd, int64_t patience_ns)
      : pid_(pid), socket_(socket), cancel_fd_(cancel_fd), patience_ns_(patience_ns) {}

  // Whether the lease was not cancelled before; the run is the current one from here on.
  bool Begin(RunRequest* request);
  void End();
  // Waits until the session is over. A zygote that takes longer than it can hangs, and is killed.
  absl::Status AwaitDone(const RunRequest& request);

  const pid_t pid_;
  const int socket_;
  const int cancel_fd_;
  const int64_t patience_ns_;

  std::mutex mutex_;  // guards all below
  uint64_t sessions_ = 0;
  uint64_t current_session_ = 0;  // 0: none
  int64_t current_lease_ = 0;
  int64_t cancelled_lease_ = 0;  // the newest
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ZYGOTE_H_
