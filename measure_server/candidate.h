// One candidate of a session: runs it in a process of its own, and fills in its report.
#ifndef HONE_MEASURE_SERVER_CANDIDATE_H_
#define HONE_MEASURE_SERVER_CANDIDATE_H_

#include <memory>
#include <string>

#include "measure_server/candidate_check.h"
#include "measure_server/candidate_child.h"
#include "measure_server/candidate_process.h"
#include "measure_server/candidates_ahead.h"
#include "measure_server/reference_file.h"
#include "measure_server/round_check.h"
#include "measure_server/run_place.h"

namespace hone::measure {

// What the candidates of a session share.
struct SessionContext {
  const RunRequest& request;
  const RunPlace& place;
  const ReferenceFile* reference = nullptr;  // to compare with; null: outputs are not checked
  int reference_fd = -1;                     // where a reference writes its outputs
  Cancellation* cancellation = nullptr;
  CandidatesAhead* ahead = nullptr;  // candidates that are loaded already; null: none
};

// The candidate's code runs in a child process (candidate_child.h), which it may damage. The
// outcome, the error ratio and the samples are therefore decided in this process, from memory that
// the child shares and from times that agree with this process's clock. The child has no access to
// the report. Once the report has an outcome, no method does anything.
class Candidate {
 public:
  Candidate(const SessionContext& context, int artifact_fd, RunReport* report)
      : context_(context),
        artifact_fd_(artifact_fd),
        report_(report),
        process_(context.request.run_limit_ns, context.place.descendants(), context.place.isolation,
                 context.cancellation) {}

  // Forks the child, which loads the candidate, checks the outputs, and waits until the child is
  // ready for rounds. For a reference or an opening (RunRequest::Kind), waits until the child has
  // done all of it; there are no rounds.
  void Start();
  // Has the child run one round, checks what it reports, and keeps the samples.
  void RunRound();
  // Checks what the rounds computed, and ends the process.
  void Finish();

  // The memory of its process while it waits for rounds; 0 if the report has an outcome.
  uint64_t memory_bytes() const { return memory_bytes_; }
  // These three are for candidates that do not all fit in memory at once. Part ends the process, if
  // there is one, until Return.
  void Part();
  // Call it after a round: checks the outputs, then does what Part does.
  void Leave();
  // Starts a new process, without checking the outputs again. That time does not count against the
  // candidate's limit.
  void Return();

 private:
  bool is_on_host() const { return context_.place.device == kHostDevice; }
  bool is_over() const { return report_->outcome != RunOutcome::kNone; }
  void End(RunOutcome outcome, const std::string& message);
  // Starts the process and takes its description. False if the candidate is over.
  bool Launch(bool is_checked);
  // The process that was started ahead; null if there is none.
  std::unique_ptr<AheadCandidate> TakeAhead() const;
  [[noreturn]] void RunAsChild(int control_fd, int shared_fd, bool is_checked) const;
  void AwaitReady();
  // False if the candidate is over.
  bool CheckTimedOutputs();
  // Waits for the next message apart from kStage, which must be `expected`. False if the candidate
  // is over.
  bool Await(Word expected, ChildMessage* message);
  bool Expect(Word expected);
  bool MayTell(RunOutcome outcome) const;
  void TakeFailure(const ChildMessage& message);

  bool TakeDescription(int shared_fd);
  void CheckOutputs();
  bool CheckSet(InputSet set);
  // Sends the command and checks what it computes. Returns what is wrong; empty if nothing is, or
  // if the candidate is over.
  std::string RunAndCheck(Command command, Word answer, InputSet set);
  // Times a round in the child. False if the candidate is over.
  bool TimeRound(RoundLog* log, SeenRound* seen);
  void Keep(const RoundLog& log);
  void KeepSample(double sample_ns, double calibrator_ns);

  const SessionContext& context_;
  const int artifact_fd_;
  RunReport* const report_;
  CandidateProcess process_;
  RunStage stage_ = RunStage::kStarting;
  std::unique_ptr<CandidateCheck> check_;  // null before the child has described its kernel
  uint64_t memory_bytes_ = 0;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANDIDATE_H_
