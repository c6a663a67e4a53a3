// The small process that forks a child for every candidate. It is forked itself before the worker
// has any thread, so that forking stays cheap and safe.
#ifndef HONE_MEASURE_SERVER_ZYGOTE_H_
#define HONE_MEASURE_SERVER_ZYGOTE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
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
  // From any thread: a Run in progress ends at once, its candidates as lost.
  virtual void Cancel() = 0;
};

class Zygote : public CandidateRunner {
 public:
  // To be called while the process has one thread. The zygote dies with the calling thread's
  // process.
  static absl::StatusOr<std::unique_ptr<Zygote>> Start(SandboxLevel level);
  ~Zygote() override;

  absl::StatusOr<std::vector<RunReport>> Run(const RunRequest& request, int reference_fd,
                                             const std::vector<int>& artifact_fds) override;
  void Cancel() override;

 private:
  Zygote(pid_t pid, int socket, int cancel_fd)
      : pid_(pid), socket_(socket), cancel_fd_(cancel_fd) {}

  const pid_t pid_;
  const int socket_;
  const int cancel_fd_;
  uint64_t sessions_ = 0;
  std::atomic<uint64_t> current_session_{0};  // 0: none
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ZYGOTE_H_
