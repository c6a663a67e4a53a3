#include "compiler/schedule/price/thread_block.h"

#include <algorithm>

#include "compiler/schedule/ceil_div.h"

namespace hone::schedule {
namespace {

// These are figures of one unit of a GPU, as those of NVIDIA from Ampere on have them (CUDA C++
// Programming Guide, "Compute Capabilities").
constexpr int64_t kResidentThreads = 2048;
constexpr int64_t kResidentBlocks = 32;
constexpr int64_t kRegisters = 65536;
constexpr int64_t kSharedBytes = 100 << 10;
constexpr double kMultiplyAddsACycle = 128;
constexpr double kLoadedWordsACycle = 32;
constexpr double kGlobalBytesACycle = 16;
constexpr double kWaitCycles = 600;
// Loads that a thread has under way at once.
constexpr double kLoadsUnderWay = 8;
// Threads of a unit that keep it busy.
constexpr double kBusyThreads = 256;
// Registers of a thread beside its sums: addresses, loop variables, what was loaded.
constexpr int64_t kOtherRegisters = 40;

int64_t ResidentBlocks(const ThreadBlocks& work) {
  const int64_t registers = work.threads * (work.results + work.words_ahead + kOtherRegisters);
  int64_t resident =
      std::min({kResidentThreads / work.threads, kRegisters / registers, kResidentBlocks});
  if (work.shared_bytes > 0) resident = std::min(resident, kSharedBytes / work.shared_bytes);
  return std::max<int64_t>(resident, 1);
}

}  // namespace

double ThreadBlockCycles(const ThreadBlocks& work, const machine::Machine& machine) {
  const int64_t of_unit = CeilDiv(work.blocks, machine.parallel.front().width);
  const double threads = static_cast<double>(work.threads);
  const double terms = static_cast<double>(work.terms);
  const double busy = std::max(
      {threads * static_cast<double>(work.results) * terms / kMultiplyAddsACycle,
       threads * work.loads * terms / kLoadedWordsACycle, work.copied_bytes / kGlobalBytesACycle});
  const auto at_once = static_cast<double>(std::min(ResidentBlocks(work), of_unit));
  const double idle = std::max(1.0, kBusyThreads / (at_once * threads));
  const double words = work.copied_bytes / 4 / threads;
  const double waiting =
      std::max(static_cast<double>(work.waits), words / kLoadsUnderWay) * kWaitCycles;
  // While some blocks of a unit wait, others compute.
  const double alone = work.words_ahead > 0 ? std::max(busy, waiting) : busy + waiting;
  return static_cast<double>(of_unit) * std::max(busy * idle, alone / at_once);
}

}  // namespace hone::schedule
