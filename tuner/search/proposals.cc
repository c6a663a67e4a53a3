#include "tuner/search/proposals.h"

namespace hone::tuner {
namespace {

// As many configs make a space too large to be drawn dry; beyond it draws do not run out.
constexpr int64_t kEnumerated = 1 << 14;
constexpr int kDrawsPerConfig = 20;

}  // namespace

Proposals::Proposals(const SearchState& state, int count)
    : space_(state.task->space()), count_(count) {
  for (const SettledTrial& trial : state.settled) seen_.insert(trial.config.ToText());
  for (const schedule::Config& config : state.open) seen_.insert(config.ToText());
  if (seen_.empty()) Add(state.task->default_config());
}

bool Proposals::Add(const schedule::Config& config) {
  if (Full() || !seen_.insert(config.ToText()).second) return false;
  batch_.push_back(config);
  return true;
}

void Proposals::FillAtRandom(Random& random) {
  for (int draws = count_ * kDrawsPerConfig; draws > 0 && !Full(); --draws) {
    Add(space_.Sample(random));
  }
  if (Full()) return;
  std::vector<schedule::Config> leaves = space_.Enumerate(kEnumerated);
  random.Shuffle(leaves);
  for (const schedule::Config& leaf : leaves) Add(leaf);
}

Random BatchRandom(const SearchState& state) {
  Random mixer(state.seed);
  const uint64_t seed = mixer.Next() ^ (0x9E3779B97F4A7C15u * (state.settled.size() + 1)) ^
                        (0xC2B2AE3D27D4EB4Fu * (state.open.size() + 1));
  return Random(Random(seed).Next());
}

}  // namespace hone::tuner
