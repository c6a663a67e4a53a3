// Direct convolutions, scheduled (conv/direct.h).
#ifndef HONE_COMPILER_SCHEDULE_CONV_DIRECT_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_CONV_DIRECT_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// The loop that is unrolled: input channels of a block, or where there are none the taps of a row,
// or the channels.
enum class InnerLoop { kBlock, kTaps, kChannels };
InnerLoop InnerOf(const Conv& conv);

// The knob "prefetch": weights of the next chunk or the next output channels; the next row's data;
// that and the next tile's result, with what of the same shape joins it.
inline constexpr int64_t kPrefetchWeights = 1, kPrefetchData = 2, kPrefetchResult = 3;

// A register tile of the output at a time, its sums taken at once, or where the config has chunks,
// tile after tile for each of them.
absl::StatusOr<loop::Nest> ScheduleConvDirect(const Task& task, const Conv& conv,
                                              const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_DIRECT_SCHEDULE_H_
