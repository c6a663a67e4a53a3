#include "tuner/jobs/batch_plan.h"

#include <utility>

namespace hone::tuner {
namespace {

// Proposals that only repeat known nests, in a row, after which the space is held for used up.
constexpr int kFruitlessLimit = 32;

class Planner {
 public:
  Planner(const TaskContext& task, const SearchState& state, std::set<std::string> nests)
      : task_(task), nests_(std::move(nests)) {
    for (const SettledTrial& trial : state.settled) configs_.insert(trial.config.ToText());
    for (const schedule::Config& config : state.open) configs_.insert(config.ToText());
  }

  void Add(const schedule::Config& config) {
    if (!configs_.insert(config.ToText()).second) return;
    const absl::StatusOr<LoweredCandidate> lowered = task_.Lower(config);
    if (!lowered.ok()) {
      plan.trials.push_back({config, "", std::string(lowered.status().message())});
    } else if (nests_.insert(lowered->nest_digest).second) {
      plan.trials.push_back({config, lowered->nest_digest, ""});
    }
  }

  BatchPlan plan;

 private:
  const TaskContext& task_;
  std::set<std::string> nests_;
  std::set<std::string> configs_;
};

}  // namespace

BatchPlan PlanBatch(const TaskContext& task, Search& search, SearchState state,
                    std::set<std::string> nests, int count) {
  Planner planner(task, state, std::move(nests));
  std::vector<PlannedTrial>& trials = planner.plan.trials;
  if (state.settled.empty() && state.open.empty()) {
    planner.Add(task.default_config());
    state.open.push_back(task.default_config());
  }
  int fruitless = 0;
  while (static_cast<int>(trials.size()) < count) {
    const size_t before = trials.size();
    const std::vector<schedule::Config> batch =
        search.NextBatch(state, count - static_cast<int>(trials.size()));
    for (const schedule::Config& config : batch) {
      if (static_cast<int>(trials.size()) < count) planner.Add(config);
      state.open.push_back(config);  // whether taken or not: not to be proposed again
    }
    fruitless = trials.size() == before ? fruitless + 1 : 0;
    if (batch.empty() || fruitless == kFruitlessLimit) {
      planner.plan.exhausted = true;
      break;
    }
  }
  return planner.plan;
}

}  // namespace hone::tuner
