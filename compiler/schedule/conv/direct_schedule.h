// The schedules of the direct strategy (conv/direct.h).
#ifndef HONE_COMPILER_SCHEDULE_CONV_DIRECT_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_CONV_DIRECT_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// The loop of the sum that is unrolled: over the input channels of a block (kBlock), over the taps
// of a row (kTaps), or over all input channels that are summed (kChannels).
enum class InnerLoop { kBlock, kTaps, kChannels };
InnerLoop InnerOf(const Conv& conv);

// The values of the knob "prefetch", which say what is prefetched: the weights of the next chunk or
// the next output channels; the data of the next row; or these data and where the next tile's
// result is stored, with the inputs of its shape that join it.
inline constexpr int64_t kPrefetchWeights = 1, kPrefetchData = 2, kPrefetchResult = 3;

// Computes one register tile of the output at a time, with its whole sums. If the config has
// chunks, the tiles of a block take turns, each for one chunk of the sum.
absl::StatusOr<loop::Nest> ScheduleConvDirect(const Task& task, const Conv& conv,
                                              const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_DIRECT_SCHEDULE_H_
