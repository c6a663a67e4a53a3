// A sequence of launches as a team of threads walks it.
#ifndef HONE_RUNTIME_CPU_SEQUENCE_H_
#define HONE_RUNTIME_CPU_SEQUENCE_H_

#include <cstdint>
#include <vector>

#include "runtime/launch_sequence.h"
#include "runtime/launch_step.h"
#include "runtime/memory.h"
#include "runtime/thread_team.h"

namespace hone {

// A run enters the team once. All threads then walk the steps, and repeats trip by trip, with
// barriers only between launches that depend on each other. A run allocates nothing.
class CpuSequence final : public LaunchSequence {
 public:
  // All arguments must outlive the sequence. `scratch` has one block for each thread, large enough
  // for every launch of the plan.
  CpuSequence(ThreadTeam& team, const std::vector<Memory>& scratch, const SequencePlan& plan);

  void Run() override;
  double Time(int64_t runs) override;
  double TimeWithoutKernels(int64_t runs) override;
  void RunTimed(std::vector<double>& call_ns) override;

 private:
  struct Step {
    LaunchStep launch;
    size_t first_buffer;
    uint32_t call;
  };

  void PlanBarriers();
  // Calls run(step, pointers of its buffers) for each step, and in repeats for each trip.
  template <typename RunStep>
  void WalkSteps(int thread, const RunStep& run);
  void Walk(int thread);
  void WalkAlone();
  void WalkTimed(int thread, std::vector<double>& call_ns);

  ThreadTeam& team_;
  const std::vector<Memory>& scratch_;
  const SequencePlan& plan_;
  std::vector<Step> steps_;  // in the plan's order
  std::vector<std::vector<void*>>
      moving_;  // by thread: the buffers of the repeat that the thread is in
};

}  // namespace hone

#endif  // HONE_RUNTIME_CPU_SEQUENCE_H_
