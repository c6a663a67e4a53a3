// Winograd's strategies of convolutions: a block of tiles at a time, in the scratch of a thread:
// the data of all its channels transformed, then for each group of output channels the products, a
// matrix product for each of the positions of a tile, and from them the results.
#ifndef HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_H_
#define HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_H_

#include <cstdint>
#include <memory>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Tiles have so many results along an axis (conv/winograd_plan.h).
std::unique_ptr<const Plan> OpenWinogradOf(int64_t tile,
                                           const std::shared_ptr<const Problem<Conv>>& problem);
template <int64_t kTile>
std::unique_ptr<const Plan> OpenWinograd(const std::shared_ptr<const Problem<Conv>>& problem) {
  return OpenWinogradOf(kTile, problem);
}

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_H_
