#include "tuner/search/searches.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tuner/search_names.h"

namespace hone::tuner {
namespace {

using schedule::Config;
using schedule::Knob;
using schedule::KnobValue;

std::vector<KnobValue> Options(int64_t count) {
  std::vector<KnobValue> options;
  for (int64_t i = 0; i < count; ++i) options.emplace_back(i);
  return options;
}

// Five knobs of 8 options; "packed" opens a sixth. The time has its optimum in one corner of the
// packed half, with interactions; some configs fail. The estimate sees two of the knobs.
class FakeTask : public TaskContext {
 public:
  explicit FakeTask(int64_t options = 8)
      : options_(options),
        space_([options](const Config& prefix) { return Next(prefix, options); }) {
    while (const auto knob = space_.Next(default_)) {
      default_.Set(knob->name, knob->options[0]);
    }
  }

  const schedule::Space& space() const override { return space_; }
  const Config& default_config() const override { return default_; }
  std::vector<Config> alternatives() const override { return alternatives_; }
  void SetAlternatives(std::vector<Config> alternatives) {
    alternatives_ = std::move(alternatives);
  }
  int threads() const override { return 1; }
  absl::StatusOr<LoweredCandidate> Lower(const Config& config) const override {
    LoweredCandidate lowered;
    for (const auto& [name, value] : config.entries()) {
      lowered.features.push_back(static_cast<float>(std::get<int64_t>(value)));
    }
    if (!config.Has("prefetch")) lowered.features.push_back(-1);
    // "noise" changes the config, not the nest.
    Config nest = config;
    nest.Set("noise", int64_t{0});
    lowered.nest_digest = nest.Digest();
    lowered.estimate_ns = 1000 * std::exp2(Miss(config, "tile_h") * 0.5);
    return lowered;
  }

  double Miss(const Config& config, const std::string& knob) const {
    const double best = std::floor(static_cast<double>(options_) * 0.6);
    return std::abs(static_cast<double>(config.Int(knob)) - best);
  }
  // 0: the candidate fails.
  double Time(const Config& config) const {
    if (config.Int("tile_h") == 7 && config.Int("tile_w") > 5) return 0;
    const double tiles = Miss(config, "tile_h") * 0.3 + Miss(config, "tile_w") * 0.25 +
                         0.1 * std::abs(Miss(config, "tile_h") - Miss(config, "tile_w"));
    const double rest = Miss(config, "unroll") * 0.15 + Miss(config, "order") * 0.1;
    const double packed = config.Int("packed") == 0 ? 0.7 : Miss(config, "prefetch") * 0.05;
    return std::exp2(tiles + rest + packed);
  }

 private:
  static std::optional<Knob> Next(const Config& prefix, int64_t options) {
    for (const char* name : {"packed", "tile_h", "tile_w", "unroll", "order"}) {
      if (!prefix.Has(name)) {
        return Knob{name, Options(std::string(name) == "packed" ? 2 : options), {}};
      }
    }
    if (prefix.Int("packed") == 1 && !prefix.Has("prefetch")) {
      return Knob{"prefetch", Options(options), {}};
    }
    if (!prefix.Has("noise")) return Knob{"noise", Options(2), {}};
    return std::nullopt;
  }

  const int64_t options_;
  schedule::Space space_;
  Config default_;
  std::vector<Config> alternatives_;
};

void Settle(const FakeTask& task, const std::vector<Config>& batch, SearchState& state) {
  for (const Config& config : batch) {
    SettledTrial trial;
    trial.config = config;
    trial.nest_digest = task.Lower(config)->nest_digest;
    trial.relative_time = task.Time(config);
    if (trial.relative_time == 0) trial.outcome = tuning_db::Outcome::kWrongOutput;
    state.settled.push_back(trial);
  }
}

// The first trial with a time within 2 % of the best there is (1); `limit` where none is.
int TrialsToOptimum(Search& search, const FakeTask& task, uint64_t seed, int limit) {
  SearchState state;
  state.task = &task;
  state.seed = seed;
  while (static_cast<int>(state.settled.size()) < limit) {
    Settle(task, search.NextBatch(state, 8), state);
    for (size_t i = 0; i < state.settled.size(); ++i) {
      const double time = state.settled[i].relative_time;
      if (time > 0 && time <= 1.02) return static_cast<int>(i) + 1;
    }
  }
  return limit;
}

class EverySearch : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Names, EverySearch, testing::ValuesIn(SearchesForUsers()));

TEST_P(EverySearch, BeginsWithTheDefaultAndNeverRepeats) {
  const FakeTask task;
  const auto search = MakeSearch(GetParam());
  SearchState state;
  state.task = &task;
  std::set<std::string> seen;
  for (int batch = 0; batch < 8; ++batch) {
    const auto configs = search->NextBatch(state, 8);
    ASSERT_EQ(configs.size(), 8u);
    if (batch == 0) {
      EXPECT_EQ(configs[0], task.default_config());
    }
    for (const Config& config : configs) {
      EXPECT_TRUE(task.space().Contains(config)) << config.ToText();
      EXPECT_TRUE(seen.insert(config.ToText()).second) << config.ToText();
    }
    if (batch % 2 == 0) {
      Settle(task, configs, state);
    } else {  // still open while the next is proposed
      state.open = configs;
      for (const Config& config : search->NextBatch(state, 8)) {
        EXPECT_FALSE(seen.contains(config.ToText()));
      }
      state.open.clear();
      Settle(task, configs, state);
    }
  }
}

TEST(EvolutionSearch, TriesTheAlternativesAfterTheDefault) {
  FakeTask task;
  Config other = task.default_config();
  other.Set("tile_w", int64_t{3});
  task.SetAlternatives({task.default_config(), other});
  SearchState state;
  state.task = &task;
  const auto search = MakeSearch(kDefaultSearch.name);
  const std::vector<Config> batch = search->NextBatch(state, 8);
  ASSERT_EQ(batch.size(), 8u);
  EXPECT_EQ(batch[0], task.default_config());
  EXPECT_EQ(batch[1], other);
}

TEST(TileSearch, ProposesEveryTileWithFirstOptionsOtherwise) {
  const FakeTask task;
  const auto search = MakeSearch(kCalibratingSearch.name);
  SearchState state;
  state.task = &task;
  std::set<std::string> seen;
  std::vector<Config> batch;
  do {
    batch = search->NextBatch(state, 50);
    for (const Config& config : batch) {
      EXPECT_EQ(config.Int("packed"), 0);
      EXPECT_EQ(config.Int("order"), 0);
      EXPECT_TRUE(seen.insert(config.ToText()).second) << config.ToText();
    }
    Settle(task, batch, state);
  } while (!batch.empty());
  EXPECT_EQ(seen.size(), 8u * 8u * 2u);  // height, width; unroll: the first option, and four
}

TEST_P(EverySearch, IsAFunctionOfItsState) {
  const FakeTask task;
  SearchState state;
  state.task = &task;
  state.seed = 5;
  const auto once = MakeSearch(GetParam());
  for (int batch = 0; batch < 4; ++batch) {
    const auto configs = once->NextBatch(state, 8);
    EXPECT_EQ(configs, MakeSearch(GetParam())->NextBatch(state, 8)) << "a restart, nothing cached";
    EXPECT_EQ(configs, once->NextBatch(state, 8)) << "asked again";
    Settle(task, configs, state);
  }
}

TEST_P(EverySearch, UsesUpASmallSpaceAndStops) {
  const FakeTask task(1);  // packed and noise are the only choices: 4 configs
  const auto search = MakeSearch(GetParam());
  SearchState state;
  state.task = &task;
  std::set<std::string> seen;
  for (int batch = 0; batch < 6; ++batch) {
    const auto configs = search->NextBatch(state, 3);
    for (const Config& config : configs) EXPECT_TRUE(seen.insert(config.ToText()).second);
    Settle(task, configs, state);
  }
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_TRUE(search->NextBatch(state, 3).empty());
}

TEST(EvolutionSearch, ReachesTheOptimumInFewerTrialsThanRandom) {
  const FakeTask task;
  int guided = 0, random = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    guided += TrialsToOptimum(*MakeEvolutionSearch(), task, seed, 400);
    random += TrialsToOptimum(*MakeRandomSearch(), task, seed, 400);
  }
  RecordProperty("guided", guided / 4);
  RecordProperty("random", random / 4);
  EXPECT_LT(guided * 2, random);
  EXPECT_LT(guided / 4, 160);
}

TEST(EvolutionSearch, ProposesEachNestOnceInABatchMostly) {
  const FakeTask task;
  const auto search = MakeEvolutionSearch();
  SearchState state;
  state.task = &task;
  for (int batch = 0; batch < 4; ++batch) Settle(task, search->NextBatch(state, 16), state);
  std::set<std::string> nests;
  for (const SettledTrial& trial : state.settled) nests.insert(trial.nest_digest);
  EXPECT_GE(nests.size(), 60u);
}

TEST(EvolutionSearch, LivesWithTasksWhereEverythingFails) {
  class Failing : public FakeTask {
   public:
    absl::StatusOr<LoweredCandidate> Lower(const Config&) const override {
      return absl::InvalidArgumentError("does not lower");
    }
  };
  const Failing task;
  SearchState state;
  state.task = &task;
  const auto search = MakeEvolutionSearch();
  for (int batch = 0; batch < 3; ++batch) {
    const auto configs = search->NextBatch(state, 8);
    ASSERT_EQ(configs.size(), 8u);
    for (const Config& config : configs) {
      state.settled.push_back({config, "", tuning_db::Outcome::kInvalidConfig, 0});
    }
  }
}

TEST(Searches, AreFoundByName) {
  for (const SearchName& search : kSearches) EXPECT_NE(MakeSearch(search.name), nullptr);
  EXPECT_EQ(MakeSearch("annealing"), nullptr);
}

}  // namespace
}  // namespace hone::tuner
