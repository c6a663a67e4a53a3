#include "tuner/random_search.h"

#include <set>
#include <string>

#include "support/random.h"

namespace hone::tuner {
namespace {

// A space up to this size is listed, so that its last configs are found; in larger ones samples
// rarely repeat.
constexpr int64_t kListUpTo = 4096;

}  // namespace

std::vector<schedule::Config> RandomSearch::NextBatch(const SearchState& state, int count) {
  std::set<std::string> seen;
  for (const SettledTrial& trial : state.settled) seen.insert(trial.config.ToText());
  for (const schedule::Config& config : state.open) seen.insert(config.ToText());
  Random random(state.seed + seen.size());
  const schedule::Space& space = state.task->space();
  std::vector<schedule::Config> batch;
  if (space.Count(kListUpTo) < kListUpTo) {
    batch = space.Enumerate(kListUpTo);
    std::erase_if(batch, [&](const auto& config) { return seen.count(config.ToText()) > 0; });
    random.Shuffle(batch);
    if (batch.size() > static_cast<size_t>(count)) batch.resize(static_cast<size_t>(count));
    return batch;
  }
  for (int draws = 64 * count; draws > 0 && static_cast<int>(batch.size()) < count; --draws) {
    schedule::Config config = space.Sample(random);
    if (seen.insert(config.ToText()).second) batch.push_back(std::move(config));
  }
  return batch;
}

}  // namespace hone::tuner
