// The zygote: a small process that forks a child for every candidate. It is itself forked before
// the worker has any other thread, so that forking stays cheap and safe.
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

// Runs candidates in processes of their own. Only one Run at a time.
class CandidateRunner {
 public:
  virtual ~CandidateRunner() = default;
  // Returns one report for each artifact, each with an outcome. kUnavailable: this runner is gone
  // for good.
  virtual absl::StatusOr<std::vector<RunReport>> Run(const RunRequest& request, int reference_fd,
                                                     const std::vector<int>& artifact_fds) = 0;
  // Ends the Run of this lease at once, and its candidates are lost; if it has not begun, it will
  // end as soon as it does. With 0, ends the Run in progress if it has no lease. May be called from
  // any thread.
  virtual void Cancel(int64_t lease) = 0;
  // Has candidates of a later run loaded, unless they are loaded already. That run's request must
  // have the same lease, seed and limits. Returns at once, and whatever fails shows in the run. Not
  // during Run.
  virtual void LoadAhead(const RunRequest& request, const std::vector<int>& artifact_fds) = 0;
  // Ends what was loaded ahead for the lease and no run has taken. Not during Run.
  virtual void Forget(int64_t lease) = 0;
};

class Zygote : public CandidateRunner {
 public:
  // The time that a run may take for each candidate beyond its limit, for forking and checking.
  static constexpr int64_t kPatienceNs = 30'000'000'000;
  // What was loaded ahead is dropped when nothing is asked of the zygote for so long.
  static constexpr int64_t kIdleAheadNs = 30'000'000'000;

  struct Options {
    SandboxLevel level = SandboxLevel::kStrict;
    // The device that candidates run on, as hone::FindDevice takes it. Only their processes load
    // its driver.
    std::string device = kHostDevice;
    // A folder for files of the device's driver, which must last as long as the zygote; empty:
    // none.
    std::string driver_files = {};
    int64_t patience_ns = kPatienceNs;
    int64_t idle_ahead_ns = kIdleAheadNs;
  };
  // Call it while the process has one thread. The zygote dies with the calling thread.
  static absl::StatusOr<std::unique_ptr<Zygote>> Start(const Options& options);
  ~Zygote() override;

  pid_t pid() const { return pid_; }

  absl::StatusOr<std::vector<RunReport>> Run(const RunRequest& request, int reference_fd,
                                             const std::vector<int>& artifact_fds) override;
  void Cancel(int64_t lease) override;
  void LoadAhead(const RunRequest& request, const std::vector<int>& artifact_fds) override;
  void Forget(int64_t lease) override;

 private:
  Zygote(pid_t pid, int pid_fd, int socket, int cancel_fd, int64_t patience_ns)
      : pid_(pid),
        pid_fd_(pid_fd),
        socket_(socket),
        cancel_fd_(cancel_fd),
        patience_ns_(patience_ns) {}

  // Makes the run the current one. False if its lease was cancelled before.
  bool Begin(RunRequest* request);
  void End();
  // Waits until the session is over. Kills a zygote that takes longer than all limits allow, since
  // it hangs.
  absl::Status AwaitDone(const RunRequest& request);

  const pid_t pid_;
  const int pid_fd_;  // -1: the system has none
  const int socket_;
  const int cancel_fd_;
  const int64_t patience_ns_;

  std::mutex mutex_;  // guards all below
  uint64_t sessions_ = 0;
  uint64_t current_session_ = 0;  // 0: none
  int64_t current_lease_ = 0;
  int64_t cancelled_lease_ = 0;  // the last one that was cancelled
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ZYGOTE_H_
