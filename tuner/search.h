// The interface of searches, which propose the next configs of a task.
#ifndef HONE_TUNER_SEARCH_H_
#define HONE_TUNER_SEARCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/schedule/config.h"
#include "tuner/lowerer.h"
#include "tuning_db/types.h"

namespace hone::tuner {

// A settled trial, as a search sees it.
struct SettledTrial {
  schedule::Config config;
  std::string nest_digest;
  tuning_db::Outcome outcome = tuning_db::Outcome::kOk;
  // In a unit that is the same for all: tuning_db::RankedNs, or where several devices measured, in
  // times of the task's default on each. 0 where the outcome is a failure.
  double relative_time = 0;
};

// Everything a batch is a function of.
struct SearchState {
  const TaskContext* task = nullptr;
  std::vector<SettledTrial> settled;   // in the order in which they were proposed
  std::vector<schedule::Config> open;  // proposed after those; their outcomes are not to be used
  uint64_t seed = 0;
};

// Stateless as far as its answers go (a cache is fine); one call at a time.
class Search {
 public:
  virtual ~Search() = default;
  // At most `count` configs, none of them in the state and no two the same. Fewer: the space has no
  // more that this search would try. The same state gives the same batch.
  virtual std::vector<schedule::Config> NextBatch(const SearchState& state, int count) = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SEARCH_H_
