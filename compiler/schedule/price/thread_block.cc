#include "compiler/schedule/price/thread_block.h"

#include <algorithm>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/price/gpu_unit.h"

namespace hone::schedule {
namespace {

constexpr double kMultiplyAddsACycle = 128;
constexpr double kLoadedWordsACycle = 32;
// Registers of a thread beside its sums: addresses, loop variables, what was loaded.
constexpr int64_t kOtherRegisters = 40;

int64_t ResidentBlocks(const ThreadBlocks& work) {
  const int64_t registers = work.threads * (work.results + work.words_ahead + kOtherRegisters);
  int64_t resident = std::min(
      {gpu_unit::kThreads / work.threads, gpu_unit::kRegisters / registers, gpu_unit::kBlocks});
  if (work.shared_bytes > 0)
    resident = std::min(resident, gpu_unit::kSharedBytes / work.shared_bytes);
  return std::max<int64_t>(resident, 1);
}

}  // namespace

double ThreadBlockCycles(const ThreadBlocks& work, const machine::Machine& machine) {
  const int64_t of_unit = CeilDiv(work.blocks, machine.parallel.front().width);
  const double threads = static_cast<double>(work.threads);
  const double terms = static_cast<double>(work.terms);
  const double busy =
      std::max({threads * static_cast<double>(work.results) * terms / kMultiplyAddsACycle,
                threads * work.loads * terms / kLoadedWordsACycle,
                work.moved_bytes / gpu_unit::kGlobalBytesACycle});
  const auto at_once = static_cast<double>(std::min(ResidentBlocks(work), of_unit));
  const double idle =
      std::max(1.0, static_cast<double>(gpu_unit::kBusyThreads) / (at_once * threads));
  const double accesses = work.moved_bytes / 4 / static_cast<double>(work.access_words) / threads;
  const double waiting =
      std::max(static_cast<double>(work.waits), accesses / gpu_unit::kLoadsUnderWay) *
      gpu_unit::kGlobalWaitCycles;
  // While some blocks of a unit wait, others compute.
  const double alone = work.words_ahead > 0 ? std::max(busy, waiting) : busy + waiting;
  return static_cast<double>(of_unit) * std::max(busy * idle, alone / at_once);
}

double AddPartsCycles(int64_t results, int64_t at_once, int64_t parts,
                      const machine::Machine& machine) {
  constexpr int64_t kBlockThreads = 128;
  constexpr int64_t kSumBytes = 4;
  if (parts == 1) return 0;
  return gpu_unit::kLaunchCycles +
         ThreadBlockCycles(
             {.blocks = CeilDiv(results, kBlockThreads * at_once),
              .threads = kBlockThreads,
              .results = at_once,
              .terms = parts,
              .moved_bytes = static_cast<double>(kBlockThreads * at_once * (parts + 1) * kSumBytes),
              .access_words = at_once,
              .waits = 1},
             machine);
}

}  // namespace hone::schedule
