#include "tuner/search/searches.h"

namespace hone::tuner {

std::unique_ptr<Search> MakeSearch(std::string_view name) {
  if (name == "random") return MakeRandomSearch();
  if (name == "grid") return MakeGridSearch();
  if (name == "tiles") return MakeTileSearch();
  if (name == "xgboost") return MakeEvolutionSearch();
  return nullptr;
}

std::vector<std::string_view> SearchNames() { return {"grid", "random", "tiles", "xgboost"}; }

}  // namespace hone::tuner
