// What all searches share: they propose the default first, and never the same config twice.
#ifndef HONE_TUNER_SEARCH_PROPOSALS_H_
#define HONE_TUNER_SEARCH_PROPOSALS_H_

#include <set>
#include <string>
#include <vector>

#include "support/random.h"
#include "tuner/search.h"

namespace hone::tuner {

// Collects a batch.
class Proposals {
 public:
  // Proposes the default config where the state has no trial yet.
  Proposals(const SearchState& state, int count);

  bool Full() const { return static_cast<int>(batch_.size()) >= count_; }
  // Whether the config is neither in the state nor in the batch.
  bool IsNew(const schedule::Config& config) const { return !seen_.contains(config.ToText()); }
  // Ignores what is not new, and everything when full.
  bool Add(const schedule::Config& config);
  // Adds uniform draws until the batch is full. In small spaces, where draws repeat, it then adds
  // the first leaves of the space in random order.
  void FillAtRandom(Random& random);
  std::vector<schedule::Config> Take() { return std::move(batch_); }

 private:
  const schedule::Space& space_;
  const int count_;
  std::set<std::string> seen_;
  std::vector<schedule::Config> batch_;
};

// The random numbers for the next batch. Their seed is a function of the state's seed and of how
// many trials the state has.
Random BatchRandom(const SearchState& state);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SEARCH_PROPOSALS_H_
