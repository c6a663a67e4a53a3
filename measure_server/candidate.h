// One candidate of a session: its process, what is asked of it, and what comes of it.
#ifndef HONE_MEASURE_SERVER_CANDIDATE_H_
#define HONE_MEASURE_SERVER_CANDIDATE_H_

#include <memory>
#include <string>

#include "measure_server/candidate_check.h"
#include "measure_server/candidate_child.h"
#include "measure_server/candidate_process.h"
#include "measure_server/reference_file.h"
#include "measure_server/round_check.h"

namespace hone::measure {

// What the candidates of a session have in common.
struct SessionContext {
  const RunRequest& request;
  const Sandbox& sandbox;
  const Isolation& isolation;
  std::string device;                        // that candidates run on, as hone::FindDevice takes it
  const ReferenceFile* reference = nullptr;  // to compare with; null: outputs are not checked
  int reference_fd = -1;                     // to write, of a reference
  Cancellation* cancellation = nullptr;
};

// The verdict, the error ratio and the samples are made here, of memory that the child shares and
// of times that fit the clock of this process; the child has no access to the report. Nothing is
// done once the report has an outcome.
class Candidate {
 public:
  Candidate(const SessionContext& context, int artifact_fd, RunReport* report)
      : context_(context),
        artifact_fd_(artifact_fd),
        report_(report),
        process_(context.request.run_limit_ns, DescendantsIn(context.sandbox), &context.isolation,
                 context.cancellation) {}

  // Forks; loads, checks, and makes ready for rounds. A reference is done with it, and an opening.
  void Start();
  void RunRound();
  // Checks what the rounds computed. The process is gone then.
  void Finish();

  // What its process takes while it waits for rounds; 0 where it is over.
  uint64_t memory_bytes() const { return memory_bytes_; }
  // Where not all candidates have room at once: ends the process until it is to Return. Nothing
  // where there is none.
  void Part();
  // To be called after rounds: checks their outputs, and does what Part does.
  void Leave();
  // A process anew, without another check of its outputs. What that takes is not of its limit.
  void Return();

 private:
  static Descendants DescendantsIn(const Sandbox& sandbox) {
    return sandbox.level() == SandboxLevel::kContained ? Descendants::kEndWithIt
                                                       : Descendants::kNone;
  }
  bool is_on_host() const { return context_.device == kHostDevice; }
  bool is_over() const { return report_->outcome != RunOutcome::kNone; }
  void End(RunOutcome outcome, const std::string& message);
  // Up to where it can say what it is; false: it is over.
  bool Launch(bool is_checked);
  [[noreturn]] void RunAsChild(int control_fd, int shared_fd, bool is_checked) const;
  void AwaitReady();
  // False: it is over.
  bool CheckTimedOutputs();
  // The next message but for stages, which is to be `expected`; false: it is over.
  bool Await(Word expected, ChildMessage* message);
  bool Expect(Word expected);
  bool MayTell(RunOutcome outcome) const;
  void TakeFailure(const ChildMessage& message);

  bool TakeDescription(int shared_fd);
  void CheckOutputs();
  bool CheckSet(InputSet set);
  // What is wrong with what it computes on the command; empty also where it is over.
  std::string RunAndCheck(Command command, Word answer, InputSet set);
  // A round that was heard, or nothing where that is over.
  bool TimeRound(RoundLog* log, SeenRound* seen);
  void Keep(const RoundLog& log);
  void KeepSample(double sample_ns, double calibrator_ns);

  const SessionContext& context_;
  const int artifact_fd_;
  RunReport* const report_;
  CandidateProcess process_;
  RunStage stage_ = RunStage::kStarting;
  std::unique_ptr<CandidateCheck> check_;  // from when it was described
  uint64_t memory_bytes_ = 0;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANDIDATE_H_
