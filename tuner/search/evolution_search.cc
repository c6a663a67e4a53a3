#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "tuner/cost_model/cost_model.h"
#include "tuner/search/proposals.h"
#include "tuner/search/searches.h"

namespace hone::tuner {
namespace {

// log2 throughput of a failure, relative to the best.
constexpr double kFailureTarget = -6;
constexpr size_t kCachedCandidates = 1 << 14;

struct Candidate {
  schedule::Config config;
  LoweredCandidate lowered;
  float score = 0;
};

float MarginOf(const LoweredCandidate& lowered) {
  return static_cast<float>(-std::log2(std::max(lowered.estimate_ns, 1e-3)));
}

// Lowering costs about a millisecond, and a config comes up in many batches.
class LoweringCache {
 public:
  // nullptr: the config does not lower. Valid until the next call.
  const LoweredCandidate* Get(const TaskContext& task, const schedule::Config& config) {
    if (entries_.size() >= kCachedCandidates) entries_.clear();
    const auto [it, inserted] =
        entries_.try_emplace(std::pair(task.serial(), config.ToText()), std::nullopt);
    if (inserted) {
      absl::StatusOr<LoweredCandidate> lowered = task.Lower(config);
      if (lowered.ok()) it->second = *std::move(lowered);
    }
    return it->second ? &*it->second : nullptr;
  }

 private:
  std::map<std::pair<uint64_t, std::string>, std::optional<LoweredCandidate>> entries_;
};

class EvolutionSearch : public Search {
 public:
  explicit EvolutionSearch(EvolutionOptions options) : options_(options) {}

  std::vector<schedule::Config> NextBatch(const SearchState& state, int count) override {
    Proposals proposals(state, count);
    for (const schedule::Config& config : state.task->alternatives()) proposals.Add(config);
    Random random = BatchRandom(state);
    if (!proposals.Full()) {
      TrainFor(state);
      ProposeBest(Evolve(state, random), KnownNests(state), random, proposals);
    }
    proposals.FillAtRandom(random);
    return proposals.Take();
  }

 private:
  // Every settled trial, best first; failures last.
  static std::vector<const SettledTrial*> Ranked(const SearchState& state) {
    std::vector<const SettledTrial*> ranked;
    for (const SettledTrial& trial : state.settled) {
      if (trial.outcome == tuning_db::Outcome::kOk && trial.relative_time > 0) {
        ranked.push_back(&trial);
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const SettledTrial* a, const SettledTrial* b) {
                       return a->relative_time < b->relative_time;
                     });
    return ranked;
  }

  // model_ is that of this state's settled trials, or none.
  void TrainFor(const SearchState& state) {
    const std::pair<uint64_t, size_t> key(state.task->serial(), state.settled.size());
    if (model_key_ == key && model_seed_ == state.seed) return;
    model_key_ = key;
    model_seed_ = state.seed;
    model_.reset();
    const std::vector<const SettledTrial*> ranked = Ranked(state);
    if (static_cast<int>(state.settled.size()) < options_.min_records || ranked.empty()) return;
    const double best = ranked[0]->relative_time;
    TrainingSet data;
    for (const SettledTrial& trial : state.settled) {
      const LoweredCandidate* lowered = cache_.Get(*state.task, trial.config);
      if (lowered == nullptr || lowered->features.empty()) continue;
      const bool ok = trial.outcome == tuning_db::Outcome::kOk && trial.relative_time > 0;
      const double target =
          ok ? std::max(std::log2(best / trial.relative_time), kFailureTarget) : kFailureTarget;
      data.rows.push_back(lowered->features);
      data.margins.push_back(MarginOf(*lowered));
      data.targets.push_back(static_cast<float>(target));
      data.groups.push_back(0);
    }
    CostModelOptions training;
    training.rounds = options_.rounds;
    training.seed = state.seed;
    absl::StatusOr<CostModel> model = CostModel::Train(data, training);
    if (model.ok()) model_ = *std::move(model);
  }

  static std::vector<schedule::Config> FirstPopulation(const SearchState& state, int elites,
                                                       int size, Random& random) {
    std::vector<schedule::Config> population = state.task->alternatives();
    population.push_back(state.task->default_config());
    const int most = static_cast<int>(population.size()) + elites;
    for (const SettledTrial* trial : Ranked(state)) {
      if (static_cast<int>(population.size()) >= most) break;
      population.push_back(trial->config);
    }
    while (static_cast<int>(population.size()) < size) {
      population.push_back(state.task->space().Sample(random));
    }
    return population;
  }

  // All candidates of all generations, each config once, best first.
  std::vector<Candidate> Evolve(const SearchState& state, Random& random) {
    const schedule::Space& space = state.task->space();
    std::set<std::string> known;
    std::vector<Candidate> all;
    AddScored(*state.task, FirstPopulation(state, options_.elites, options_.population, random),
              known, all);
    // Without a model the scores are the analytic estimate's, which more generations would only
    // follow into its errors; and lowering them costs more than it brings.
    const int generations = model_ ? options_.generations : 1;
    for (int generation = 0; generation < generations; ++generation) {
      std::vector<schedule::Config> children;
      for (int n = 0; n < options_.population && !all.empty(); ++n) {
        const schedule::Config& parent = Pick(all, random).config;
        children.push_back(random.Uniform() < 0.3
                               ? space.Crossover(parent, Pick(all, random).config, random)
                               : space.Mutate(parent, random));
      }
      AddScored(*state.task, children, known, all);
    }
    return all;
  }

  // Picks one of the best quarter, with a preference for its head.
  static const Candidate& Pick(const std::vector<Candidate>& ranked, Random& random) {
    const size_t head = std::max<size_t>(1, ranked.size() / 4);
    return ranked[std::min(random.Below(head), random.Below(head))];
  }

  void AddScored(const TaskContext& task, const std::vector<schedule::Config>& configs,
                 std::set<std::string>& known, std::vector<Candidate>& all) {
    std::vector<Candidate> fresh;
    for (const schedule::Config& config : configs) {
      if (!known.insert(config.ToText()).second) continue;
      if (const LoweredCandidate* lowered = cache_.Get(task, config)) {
        fresh.push_back({config, *lowered, 0});
      }
    }
    Score(fresh);
    all.insert(all.end(), std::make_move_iterator(fresh.begin()),
               std::make_move_iterator(fresh.end()));
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  }

  void Score(std::vector<Candidate>& candidates) const {
    std::vector<std::vector<float>> rows;
    std::vector<float> scores;
    for (const Candidate& candidate : candidates) {
      rows.push_back(candidate.lowered.features);
      scores.push_back(MarginOf(candidate.lowered));
    }
    if (model_) {
      const absl::StatusOr<std::vector<float>> predicted = model_->Predict(rows, scores);
      if (predicted.ok()) scores = *predicted;
    }
    for (size_t i = 0; i < candidates.size(); ++i) candidates[i].score = scores[i];
  }

  std::set<std::string> KnownNests(const SearchState& state) {
    std::set<std::string> nests;
    for (const SettledTrial& trial : state.settled) nests.insert(trial.nest_digest);
    for (const schedule::Config& config : state.open) {
      if (const LoweredCandidate* lowered = cache_.Get(*state.task, config)) {
        nests.insert(lowered->nest_digest);
      }
    }
    return nests;
  }

  // Best first, each nest once; a few places are left to chance.
  void ProposeBest(const std::vector<Candidate>& ranked, std::set<std::string> nests,
                   Random& random, Proposals& proposals) {
    // With nothing learned yet the analytic order is all there is to follow: half and half.
    const double epsilon = model_ ? options_.epsilon : 0.5;
    for (const Candidate& candidate : ranked) {
      if (proposals.Full()) return;
      if (!proposals.IsNew(candidate.config)) continue;
      if (!nests.insert(candidate.lowered.nest_digest).second) continue;
      if (random.Uniform() < epsilon) {
        const Candidate& drawn = ranked[random.Below(ranked.size())];
        if (nests.insert(drawn.lowered.nest_digest).second) proposals.Add(drawn.config);
      }
      proposals.Add(candidate.config);
    }
  }

  const EvolutionOptions options_;
  LoweringCache cache_;
  std::optional<CostModel> model_;
  std::pair<uint64_t, size_t> model_key_{0, 0};
  uint64_t model_seed_ = 0;
};

}  // namespace

std::unique_ptr<Search> MakeEvolutionSearch(EvolutionOptions options) {
  return std::make_unique<EvolutionSearch>(options);
}

}  // namespace hone::tuner
