#include "compiler/schedule/price/warp_block.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "compiler/machine/tensor_cores.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/price/gpu_unit.h"

namespace hone::schedule {
namespace {

// Figures of a unit beside those of gpu_unit.h (CUDA C++ Programming Guide, "Arithmetic
// Instructions").
constexpr double kTensorProductsACycle = 1024;
// Products of float32, each three of TF32 (324 TFLOP/s on an H100, where multiply-adds make 66).
constexpr double kSplitProductsACycle = 210;
// Elements that a unit's threads split, by a conversion and a subtraction.
constexpr double kSplitsACycle = 43;
// A unit does not do this part of what it does beside what it is busiest with at the same time.
constexpr double kShareApart = 0.25;
// Warps of a unit that keep its tensor cores busy.
constexpr double kBusyWarps = 8;
// Registers of a thread beside its sums.
constexpr int64_t kRegistersBesideSums = 64;
int64_t BlocksAtOnce(const WarpBlocks& work, int64_t of_unit) {
  const int64_t threads = machine::kWarpProduct.threads;
  const int64_t parts = work.element_bytes == 4 ? work.lanes : 0;  // of split terms
  const int64_t registers = work.rows * work.lanes / threads + parts + kRegistersBesideSums;
  const int64_t resident = std::min(
      {gpu_unit::kThreads / threads / work.warps,
       gpu_unit::kRegisters / (work.warps * threads * registers),
       gpu_unit::kSharedBytes / std::max<int64_t>(work.shared_bytes, 1), gpu_unit::kBlocks});
  return std::min(std::max<int64_t>(resident, 1), of_unit);
}

// The cycles for which a block that computes for `busy` cycles does nothing but wait. A copy that
// is begun `copies_ahead` steps before it is needed has the time of these steps.
double WaitingCycles(const WarpBlocks& work, double busy) {
  const double latency =
      gpu_unit::kGlobalWaitCycles * std::max(1.0, work.loads / gpu_unit::kLoadsUnderWay);
  const double all = static_cast<double>(work.waits) * latency;
  if (work.copies_ahead == 0) return all;
  const double exposed =
      all * gpu_unit::kLatencyAhead / static_cast<double>(work.copies_ahead) - busy;
  return std::min(all, latency * gpu_unit::kLatencyAhead + std::max(0.0, exposed));
}

}  // namespace

double WarpBlockCycles(const WarpBlocks& work, const machine::Machine& machine) {
  const int64_t of_unit = CeilDiv(work.blocks, machine.parallel.front().width);
  const auto at_once = static_cast<double>(BlocksAtOnce(work, of_unit));
  const auto warps = static_cast<double>(work.warps);
  const double terms = warps * static_cast<double>(work.terms);
  const double products = terms * static_cast<double>(work.rows * work.lanes);
  const double factors = terms * static_cast<double>(work.rows + work.lanes);
  const double factor_bytes = factors * static_cast<double>(work.element_bytes);
  const bool is_split = work.element_bytes == 4;
  const double parts[] = {products / (is_split ? kSplitProductsACycle : kTensorProductsACycle),
                          is_split ? factors / kSplitsACycle : 0,
                          (factor_bytes + work.moved_bytes) / gpu_unit::kSharedBytesACycle,
                          work.moved_bytes / gpu_unit::kGlobalBytesACycle};
  const double most = *std::ranges::max_element(parts);
  const double all = std::accumulate(std::begin(parts), std::end(parts), 0.0);
  const double busy = most + (all - most) * kShareApart;
  const double idle = std::max(1.0, kBusyWarps / (at_once * warps));
  const double waiting = WaitingCycles(work, busy);
  // While some blocks of a unit wait, others compute.
  return static_cast<double>(of_unit) * std::max(busy * idle, (busy + waiting) / at_once);
}

}  // namespace hone::schedule
