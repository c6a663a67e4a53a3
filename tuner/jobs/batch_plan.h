// Plans the next batch of a task: the configs that the search proposes, each lowered, and no nest
// twice.
#ifndef HONE_TUNER_JOBS_BATCH_PLAN_H_
#define HONE_TUNER_JOBS_BATCH_PLAN_H_

#include <set>
#include <string>
#include <vector>

#include "tuner/lowerer.h"
#include "tuner/search.h"

namespace hone::tuner {

struct PlannedTrial {
  schedule::Config config;
  std::string nest_digest;  // empty: the config does not lower
  std::string failure;      // why
};
struct BatchPlan {
  std::vector<PlannedTrial> trials;
  bool exhausted = false;  // the search has no more to propose
};

// A pure function. A task without trials begins with its default config. `nests` are the digests of
// all its trials so far. At most `count` trials.
BatchPlan PlanBatch(const TaskContext& task, Search& search, SearchState state,
                    std::set<std::string> nests, int count);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_BATCH_PLAN_H_
