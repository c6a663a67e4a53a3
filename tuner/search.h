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
  // Comparable within one task: tuning_db::RankedNs, or where several devices measured and all have
  // timed the task's default, the ratio to the default's time on the same device. 0 where the
  // outcome is a failure.
  double relative_time = 0;
};

// All that a search may base a batch on.
struct SearchState {
  const TaskContext* task = nullptr;
  std::vector<SettledTrial> settled;  // in the order in which they were proposed
  // The configs of all other trials so far, whose outcomes are not to be used.
  std::vector<schedule::Config> open;
  uint64_t seed = 0;
};

// A search may keep caches, but its answers depend on its arguments only. One call at a time.
class Search {
 public:
  virtual ~Search() = default;
  // At most `count` configs, no two of them the same, and none that is in the state. Fewer where
  // the space has no more that this search would try. The same state gives the same batch.
  virtual std::vector<schedule::Config> NextBatch(const SearchState& state, int count) = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SEARCH_H_
