// Candidates that are loaded while others are measured.
#ifndef HONE_MEASURE_SERVER_CANDIDATES_AHEAD_H_
#define HONE_MEASURE_SERVER_CANDIDATES_AHEAD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "measure_server/candidate_process.h"
#include "measure_server/run_place.h"
#include "measure_server/run_protocol.h"
#include "measure_server/shared_places.h"

namespace hone::measure {

// The process of a candidate that loads it and then waits for kBegin, with the file that it shares.
struct AheadCandidate {
  AheadCandidate(int64_t lease_of_it, const RunPlace& place);

  const int64_t lease;
  Cancellation none{-1, 0};
  SharedFile shared;
  CandidateProcess process;
  uint64_t artifact = 0;  // the number of its artifact's file
};

// Opening a device and having its driver compile a candidate takes longer than timing most
// candidates. So the zygote starts processes for the next ones, which do that on other cores
// meanwhile; each process still runs one candidate only. The zygote must have one thread. The
// destructor ends all processes.
class CandidatesAhead {
 public:
  // `place` must outlive this.
  explicit CandidatesAhead(const RunPlace* place) : place_(place) {}

  // Starts a process for each of these candidates of a later run, whose request has the same lease,
  // seed and limits. Does nothing for a candidate that has a process already, or whose process
  // cannot be started: its run will start one.
  void Start(const RunRequest& request, const std::vector<int>& artifact_fds);
  // The candidate of this lease with this artifact; null if none was started.
  std::unique_ptr<AheadCandidate> Take(int64_t lease, int artifact_fd);
  // Ends what was started for the lease and not taken.
  void Forget(int64_t lease);
  void ForgetAll() { candidates_.clear(); }
  bool empty() const { return candidates_.empty(); }

 private:
  using Candidates = std::vector<std::unique_ptr<AheadCandidate>>;

  Candidates::iterator Find(int64_t lease, int artifact_fd);

  const RunPlace* const place_;
  Candidates candidates_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANDIDATES_AHEAD_H_
