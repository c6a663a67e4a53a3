#include "tuner/search/proposals.h"
#include "tuner/search/searches.h"

namespace hone::tuner {
namespace {

class RandomSearch : public Search {
 public:
  std::vector<schedule::Config> NextBatch(const SearchState& state, int count) override {
    Proposals proposals(state, count);
    Random random = BatchRandom(state);
    proposals.FillAtRandom(random);
    return proposals.Take();
  }
};

}  // namespace

std::unique_ptr<Search> MakeRandomSearch() { return std::make_unique<RandomSearch>(); }

}  // namespace hone::tuner
