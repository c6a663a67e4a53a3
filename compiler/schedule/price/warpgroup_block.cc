#include "compiler/schedule/price/warpgroup_block.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "compiler/machine/tensor_cores.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/price/gpu_unit.h"

namespace hone::schedule {
namespace {

using machine::kWarpgroupProduct;

// Rates of a unit of an H100 at 1.755 GHz. It was measured that `wgmma` does 857 to 907 TFLOP/s,
// and that a product of 4096 cubed, whose tiles of 128 by 256 copy 1.6 GB, takes 182 microseconds.
constexpr double kProductsACycle = 1900;
constexpr double kCopiedBytesACycle = 40;
// The second cache gives no more to a unit, however few others load from it.
constexpr double kMostCopiedBytesACycle = 64;
// A unit does not do this part of what it does beside what it is busiest with at the same time.
// Neither copies nor products need a thread that waits for them.
constexpr double kGroupShareApart = 0.1;
// From the last product of a step to the first one of the next: the products' latency, and a
// barrier. Products of the next step that are begun before need no more than to be begun.
constexpr double kStepWaitCycles = 150;
constexpr double kLaterWaitCycles = 30;
// What all blocks of a unit may share, and what each takes beside its own.
constexpr int64_t kSharedBytesOfUnit = 228 << 10;
constexpr int64_t kSharedBytesBeside = 1 << 10;
// Registers of a thread beside its sums.
constexpr int64_t kGroupRegistersBeside = 64;
constexpr double kFactorBytes = 2;

int64_t GroupBlocksAtOnce(const WarpgroupBlocks& work, int64_t of_unit) {
  const int64_t threads = work.groups * kWarpgroupProduct.threads;
  const int64_t sums = kWarpgroupProduct.rows * work.lanes / kWarpgroupProduct.threads;
  const int64_t resident =
      std::min({gpu_unit::kThreads / threads,
                gpu_unit::kRegisters / (threads * (sums + kGroupRegistersBeside)),
                kSharedBytesOfUnit / (work.shared_bytes + kSharedBytesBeside), gpu_unit::kBlocks});
  return std::min(std::max<int64_t>(resident, 1), of_unit);
}

// The bytes that each unit with blocks copies in a cycle. They share what the second cache gives.
double CopiedBytesACycle(const WarpgroupBlocks& work, int64_t units) {
  const auto share = static_cast<double>(units) / static_cast<double>(std::min(work.blocks, units));
  return std::min(kMostCopiedBytesACycle, kCopiedBytesACycle * share);
}

// What a unit is busy with for one copy of a block: it multiplies, each group with all columns,
// writes the copy to shared memory and reads both factors there, and loads the copy.
double BusyCyclesOfCopy(const WarpgroupBlocks& work, double copied_bytes_a_cycle) {
  const auto groups = static_cast<double>(work.groups);
  const auto lanes = static_cast<double>(work.lanes);
  constexpr auto kRows = static_cast<double>(kWarpgroupProduct.rows);
  constexpr auto kTerms = static_cast<double>(kWarpgroupProduct.row_terms);
  const double read_bytes = groups * (kRows + lanes) * kTerms * kFactorBytes;
  const double parts[] = {groups * kRows * lanes * kTerms / kProductsACycle,
                          (read_bytes + work.copied_bytes) / gpu_unit::kSharedBytesACycle,
                          work.copied_bytes / copied_bytes_a_cycle};
  const double most = *std::ranges::max_element(parts);
  const double all = std::accumulate(std::begin(parts), std::end(parts), 0.0);
  return most + (all - most) * kGroupShareApart;
}

}  // namespace

double WarpgroupBlockCycles(const WarpgroupBlocks& work, const machine::Machine& machine) {
  const int64_t units = machine.parallel.front().width;
  const int64_t of_unit = CeilDiv(work.blocks, units);
  const auto at_once = static_cast<double>(GroupBlocksAtOnce(work, of_unit));
  const auto copies = static_cast<double>(work.copies);
  const double latency =
      gpu_unit::kGlobalWaitCycles * std::max(1.0, work.loads / gpu_unit::kLoadsUnderWay);
  const double bytes_a_cycle = CopiedBytesACycle(work, units);
  const double of_copy = BusyCyclesOfCopy(work, bytes_a_cycle);
  // Sums are written to shared memory, and read there to be stored.
  const double of_results =
      work.result_bytes * (2 / gpu_unit::kSharedBytesACycle + 1 / bytes_a_cycle);
  const double busy = copies * of_copy + of_results;
  // A block alone waits for its products at the end of each step, and for a copy that was begun
  // `copies_ahead` steps before as long as these steps did not take.
  const double step = of_copy + (work.waits_later ? kLaterWaitCycles : kStepWaitCycles);
  const double ahead = static_cast<double>(work.copies_ahead);
  const double waiting =
      work.copies_ahead == 0
          ? copies * latency
          : latency * gpu_unit::kLatencyAhead +
                copies * std::max(0.0, latency * gpu_unit::kLatencyAhead / ahead - step);
  const double alone = copies * step + std::min(copies * latency, waiting) + of_results;
  // While some blocks of a unit wait, others multiply.
  return static_cast<double>(of_unit) * std::max(busy, alone / at_once);
}

}  // namespace hone::schedule
