#include "compiler/schedule/micro_kernels.h"
#include "tuner/search/proposals.h"
#include "tuner/search/searches.h"

namespace hone::tuner {
namespace {

class TileSearch : public Search {
 public:
  std::vector<schedule::Config> NextBatch(const SearchState& state, int count) override {
    Proposals proposals(state, count);
    for (const schedule::Config& config : schedule::TileConfigs(state.task->space())) {
      proposals.Add(config);
    }
    return proposals.Take();
  }
};

}  // namespace

std::unique_ptr<Search> MakeTileSearch() { return std::make_unique<TileSearch>(); }

}  // namespace hone::tuner
