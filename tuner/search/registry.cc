#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "tuner/search/searches.h"
#include "tuner/search_names.h"

namespace hone::tuner {
namespace {

struct Maker {
  std::string_view name;
  std::unique_ptr<Search> (*make)();
};

constexpr Maker kMakers[] = {
    {kGridSearch.name, MakeGridSearch},
    {kRandomSearch.name, MakeRandomSearch},
    {kCalibratingSearch.name, MakeTileSearch},
    {kDefaultSearch.name, [] { return MakeEvolutionSearch(); }},
};
static_assert(std::size(kMakers) == std::size(kSearches));

}  // namespace

std::unique_ptr<Search> MakeSearch(std::string_view name) {
  const auto* const maker = std::ranges::find(kMakers, name, &Maker::name);
  return maker == std::end(kMakers) ? nullptr : maker->make();
}

}  // namespace hone::tuner
