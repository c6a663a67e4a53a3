// Winograd's strategies of convolutions. A thread computes a block of tiles at a time, in its
// scratch memory. It transforms the block's data of all channels. Then, for each group of output
// channels, it computes the products, which are a matrix product for each position of a tile, and
// from them the results.
#ifndef HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_H_
#define HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_H_

#include <cstdint>
#include <memory>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Opens the strategy whose tiles have `tile` results along an axis (conv/winograd_plan.h).
std::unique_ptr<const Plan> OpenWinogradOf(int64_t tile,
                                           const std::shared_ptr<const Problem<Conv>>& problem);
template <int64_t kTile>
std::unique_ptr<const Plan> OpenWinograd(const std::shared_ptr<const Problem<Conv>>& problem) {
  return OpenWinogradOf(kTile, problem);
}

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_H_
