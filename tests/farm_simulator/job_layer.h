// What feeds the dispatcher with trials, and settles what comes back: one life of it.
#ifndef HONE_TESTS_FARM_SIMULATOR_JOB_LAYER_H_
#define HONE_TESTS_FARM_SIMULATOR_JOB_LAYER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "tests/farm_simulator/event_queue.h"
#include "tuner/measurer.h"
#include "tuning_db/store.h"

namespace hone::sim {

class JobLayer {
 public:
  virtual ~JobLayer() = default;
  // Takes up what an earlier life left. Called first.
  virtual void Resume() = 0;
  // The job is in the store.
  virtual void JobSubmitted(int64_t job) = 0;
  virtual void CancelJob(int64_t job) = 0;
  // Where jobs can be paused: DirectJobs knows nothing of that.
  virtual void PauseJob(int64_t) {}
  virtual void ResumeJob(int64_t) {}
  virtual void Tick() = 0;
};

struct JobLayerParts {
  tuning_db::Store* store = nullptr;
  tuner::Measurer* measurer = nullptr;
  const Clock* clock = nullptr;
  tuner::Executor* executor = nullptr;
  // The store failed: only a new life goes on.
  std::function<void()> on_fatal;
};

// Proposes all trials of a job at once and has them measured: fast, and as simple as can be.
std::unique_ptr<JobLayer> MakeDirectJobs(const JobLayerParts& parts);
hone::v1::MeasureResult MeasureDirectTrial(const hone::v1::Assignment& assignment, int64_t serial);

// The real TuningLoop, with a compiler, a search and a builder that are functions of the config.
std::unique_ptr<JobLayer> MakeLoopJobs(const JobLayerParts& parts);

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_JOB_LAYER_H_
