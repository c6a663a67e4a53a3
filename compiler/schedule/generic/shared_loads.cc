#include "compiler/schedule/generic/shared_loads.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "absl/container/inlined_vector.h"

namespace hone::schedule {
namespace {

// Terms that follow each other, and move along the dimension.
int64_t TapsOf(const GridSums& sums, size_t step_loop, const GridFactor::Dim& dim) {
  int64_t taps = 1;
  for (size_t i = step_loop + 1; i < sums.steps.size(); ++i) {
    if (dim.steps[i] != 0) taps *= sums.steps[i];
  }
  return taps;
}

// Words of a run of results for each of its terms: neighbours load once what is the same for
// several of them.
double PlacesOf(int64_t run, int64_t stride, int64_t taps) {
  return std::min(static_cast<double>(run),
                  static_cast<double>(stride * (run - 1) + taps) / static_cast<double>(taps));
}

// In how many turns the threads of a warp get the words that they ask for at once: what has the
// same bank comes one after the other, unless it is the same. Whole vectors come for a quarter of
// the threads at a time.
int64_t TurnsOf(const BlockTile& tile, const std::vector<int64_t>& strides, bool has_vectors) {
  constexpr int64_t kBanks = 32;
  const int64_t unit = has_vectors ? kVectorColumns : 1;
  const int64_t banks = kBanks / unit;
  std::array<int64_t, kBanks> last;  // what was asked of a bank
  std::array<int64_t, kBanks> turns{};
  last.fill(-1);
  const size_t rank = tile.axes.size();
  absl::InlinedVector<int64_t, 8> thread(rank, 0);  // along each axis
  int64_t word = 0;
  for (int64_t lane = 0; lane < banks; ++lane) {
    const int64_t place = std::abs(word) / unit;
    const auto bank = static_cast<size_t>(place % banks);
    if (last[bank] != place) ++turns[bank];
    last[bank] = place;
    for (size_t axis = rank; axis-- > 0;) {
      const auto& [threads, results, runs] = tile.axes[axis];
      if (threads == 1) continue;
      const int64_t step = results / runs * strides[axis];
      word += step;
      if (++thread[axis] < threads) break;
      word -= threads * step;
      thread[axis] = 0;
    }
  }
  return *std::ranges::max_element(turns);
}

}  // namespace

double SharedLoads(const GridSums& sums, const BlockTile& tile, size_t columns,
                   const std::vector<std::vector<int64_t>>& strides) {
  const int64_t run = tile.axes[columns].results / tile.axes[columns].runs;
  double all = 0;
  for (size_t i = 0; i < sums.factors->size(); ++i) {
    const GridFactor& factor = (*sums.factors)[i];
    double words = 1;
    for (size_t axis = 0; axis < tile.axes.size(); ++axis) {
      if (axis != columns && factor.DependsOnAxis(axis)) {
        words *= static_cast<double>(tile.axes[axis].results);
      }
    }
    bool has_vectors = strides[i][columns] == 1 && run % kVectorColumns == 0;
    for (const GridFactor::Dim& dim : factor.dims) {
      if (dim.axes[columns] == 0) continue;
      const int64_t taps = TapsOf(sums, tile.step_loop, dim);
      has_vectors &= taps == 1;
      words *= static_cast<double>(tile.axes[columns].runs) *
               PlacesOf(run, std::abs(dim.axes[columns]), taps);
    }
    all += words * static_cast<double>(TurnsOf(tile, strides[i], has_vectors));
  }
  return all;
}

}  // namespace hone::schedule
