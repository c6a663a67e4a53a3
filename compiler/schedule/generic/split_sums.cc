#include "compiler/schedule/generic/split_sums.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/status/status.h"
#include "compiler/machine/vector_access.h"
#include "compiler/schedule/generic/result_vectors.h"
#include "compiler/schedule/price/gpu_unit.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

// Sums over a window of 3x3 places often have nine copies, or nine times a power of two.
constexpr int64_t kPartCounts[] = {2, 3, 4, 6, 8, 9, 12, 16};
// Shorter parts store and load their sums for too little.
constexpr int64_t kFewestTermsOfPart = 32;
constexpr int64_t kFewestStepsOfPart = 2;
// Blocks that a unit gets one after the other, from which on more blocks do not fill it better.
constexpr int64_t kMostBlocksOfUnit = 4;
// Tensor cores sum in float32, and so do stages of 16-bit kernels.
constexpr size_t kBytesOfSum = 4;

// The most of ResultsAtOnce that leave the machine's units threads enough.
int64_t ResultsOfThread(Sequence s, const GridSums& sums, const machine::Machine& machine) {
  const Stage results = TakeResults(&s, sums).results;
  int64_t at_once = std::min(ResultsAtOnce(s.nest(), results, sums.extents.back()),
                             machine::kAccessBytes / static_cast<int64_t>(kBytesOfSum));
  const int64_t fewest_threads = gpu_unit::kBusyThreads * machine.parallel.front().width;
  while (at_once > 1 && sums.Results() / at_once < fewest_threads) at_once /= 2;
  return at_once;
}

// The loop that adds up the parts of a sum is a thread's, who has one result, or a vector of them.
// Threads side by side load neighbours of each part, and store neighbours.
void AddUpParts(Sequence* s, const GridSums& sums, int64_t at_once) {
  const auto [results, registers] = TakeResults(s, sums);
  const Loop last = results.Axes(sums.extents.size()).back();
  if (at_once == 1) {
    s->ComputeAt(registers, last);
  } else {
    const Loop lane = s->Split(last, at_once, Tail::kExact, last, last.Lanes()).inner;
    s->ComputeAt(registers, last);
    s->Vectorize(registers.Axes(sums.extents.size()).back());
    s->Vectorize(lane);
  }
  s->UnrollPresent({registers.Partials()});
}

}  // namespace

std::vector<int64_t> PartsOf(const GridSums& sums, const WholeSums& whole,
                             const machine::Machine& machine) {
  std::vector<int64_t> all = {1};
  const int64_t most_blocks = kMostBlocksOfUnit * machine.parallel.front().width;
  for (const int64_t parts : kPartCounts) {
    if (sums.steps[whole.step_loop] % (parts * whole.steps) != 0) continue;
    // A part of one step would leave no loop to take steps of.
    if (sums.steps[whole.step_loop] / parts < kFewestStepsOfPart) break;
    const int64_t copies = sums.steps[whole.step_loop] / (parts * whole.steps);
    if (copies < whole.copies || sums.Terms() / parts < kFewestTermsOfPart) break;
    if (whole.blocks * parts > most_blocks) break;
    all.push_back(parts);
  }
  return all;
}

std::optional<int64_t> AddedAtOnce(const Sequence& s, const GridSums& sums, size_t step_loop,
                                   const machine::Machine& machine, bool has_vectors) {
  const auto fewest = std::ranges::find_if(
      kPartCounts, [&](int64_t parts) { return sums.steps[step_loop] % parts == 0; });
  if (fewest == std::end(kPartCounts)) return std::nullopt;
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(s.nest(), sums.stage.buffer());
  if (!buffer.ok() || SizeBytes((*buffer)->dtype) != kBytesOfSum) return std::nullopt;
  const int64_t at_once = has_vectors ? ResultsOfThread(s, sums, machine) : 1;
  Sequence split = s;
  SplitSums(&split, sums, step_loop, *fewest, at_once);
  return split.ok() ? std::optional(at_once) : std::nullopt;
}

GridSums SplitSums(Sequence* s, const GridSums& sums, size_t step_loop, int64_t parts,
                   int64_t at_once) {
  const Stage partial =
      s->Rfactor(sums.stage.Reduction(step_loop), parts, /*starts_at_first=*/true);
  if (!s->ok()) return sums;
  AddUpParts(s, sums, at_once);
  const std::optional<GridSums> of_parts = SumsOfStage(*s, partial);
  if (of_parts && of_parts->factors) return *of_parts;
  s->Fail(absl::InternalError("expected parts of sums that are sums of the same factors"));
  return sums;
}

}  // namespace hone::schedule
