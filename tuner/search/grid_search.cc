#include "tuner/search/proposals.h"
#include "tuner/search/searches.h"

namespace hone::tuner {
namespace {

class GridSearch : public Search {
 public:
  std::vector<schedule::Config> NextBatch(const SearchState& state, int count) override {
    Proposals proposals(state, count);
    // So many leaves hold `count` new ones, whatever was tried before.
    const size_t tried = state.settled.size() + state.open.size();
    const auto leaves =
        state.task->space().Enumerate(static_cast<int64_t>(tried) + int64_t{count} + 1);
    for (const schedule::Config& leaf : leaves) proposals.Add(leaf);
    return proposals.Take();
  }
};

}  // namespace

std::unique_ptr<Search> MakeGridSearch() { return std::make_unique<GridSearch>(); }

}  // namespace hone::tuner
