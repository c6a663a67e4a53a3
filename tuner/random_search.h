// The search without a model: uniform over the space.
#ifndef HONE_TUNER_RANDOM_SEARCH_H_
#define HONE_TUNER_RANDOM_SEARCH_H_

#include <vector>

#include "tuner/search.h"

namespace hone::tuner {

class RandomSearch : public Search {
 public:
  std::vector<schedule::Config> NextBatch(const SearchState& state, int count) override;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_RANDOM_SEARCH_H_
