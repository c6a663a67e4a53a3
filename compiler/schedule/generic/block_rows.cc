#include "compiler/schedule/generic/block_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/generic/block_rows_schedule.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/price/gpu_unit.h"
#include "compiler/schedule/price/thread_block.h"

namespace hone::schedule {
namespace {

constexpr int64_t kThreadsOfRow[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr int64_t kRowsOfBlock[] = {1, 2, 4, 8, 16, 32};
constexpr int64_t kRunsOfRow[] = {1, 2, 4, 8};
// Rows of fewer elements leave threads that share them nothing to do.
constexpr int64_t kFewestColumns = 8;
constexpr int64_t kLeastRowThreads = 32;
// Registers of a thread that elements of rows may take, and those that it needs beside them.
constexpr int64_t kMostKept = 64;
constexpr int64_t kOtherRowRegisters = 40;

// Where what several stages read of a row is.
enum class RowPlace {
  kRegisters,
  kMemory,  // each stage reads it anew
};

struct RowChoice {
  RowPlace place = RowPlace::kMemory;
  RowBlock block;
};

// The knobs, in the order in which they are chosen.
constexpr const char* kRowPlace = "row";
struct RowKnob {
  const char* name;
  int64_t RowBlock::* value;
};
constexpr RowKnob kRowKnobs[] = {{"threads_columns", &RowBlock::threads},
                                 {"threads_rows", &RowBlock::rows},
                                 {"run", &RowBlock::run}};

std::string TextOf(RowPlace place) {
  return place == RowPlace::kRegisters ? "registers" : "memory";
}

// A kernel's rows by the places of its elements, each of which may be impossible.
struct RowViews {
  std::optional<GridRows> in_registers, in_memory;

  const GridRows& At(RowPlace place) const {
    return place == RowPlace::kRegisters ? *in_registers : *in_memory;
  }
};

bool FitsRow(const GridRows& rows, const RowBlock& block, RowPlace place,
             const machine::Machine& machine) {
  // Threads of other rows have neighbours, where a thread's own are far away.
  if (rows.apart && block.run > 1) return false;
  if (rows.columns % block.run != 0 || rows.row_extent % block.rows != 0) return false;
  // At most half of the threads have nothing to do.
  if (block.threads >= 2 * (rows.columns / block.run)) return false;
  const int64_t most = machine.parallel.back().width;
  if (block.Threads() < kLeastRowThreads || block.Threads() > most) return false;
  const int64_t kept = rows.KeptRows() * block.Elements(rows);
  const int64_t registers = gpu_unit::kRegisters / block.Threads() - kOtherRowRegisters;
  return place == RowPlace::kMemory || kept <= std::min(kMostKept, registers);
}

std::vector<RowChoice> RowChoicesOf(const RowViews& views, const machine::Machine& machine) {
  std::vector<RowChoice> choices;
  for (const RowPlace place : {RowPlace::kRegisters, RowPlace::kMemory}) {
    if (!(place == RowPlace::kRegisters ? views.in_registers : views.in_memory)) continue;
    for (const int64_t threads : kThreadsOfRow) {
      for (const int64_t rows : kRowsOfBlock) {
        for (const int64_t run : kRunsOfRow) {
          const RowChoice choice{place, {.threads = threads, .rows = rows, .run = run}};
          if (FitsRow(views.At(place), choice.block, place, machine)) choices.push_back(choice);
        }
      }
    }
  }
  return choices;
}

// The bytes that a block moves. Threads side by side that touch few neighbours move more than they
// need, and what has been loaded before is near.
double RowTraffic(const GridRows& rows, const RowBlock& block) {
  constexpr double kBytesMoved = 32;  // at least, around one that is asked for
  constexpr double kNear = 0.25;
  const auto elements = static_cast<double>(block.rows * rows.row_elements);
  const auto neighbours = static_cast<double>(rows.apart ? block.rows : block.threads * block.run);
  const double bytes = rows.moved_bytes + kNear * rows.repeated_bytes;
  return elements * bytes * std::max(1.0, kBytesMoved / (4 * neighbours));
}

double RowCycles(const GridRows& rows, const RowBlock& block, const machine::Machine& machine) {
  constexpr int64_t kOperations = 4;  // of an element, in each stage
  const int64_t elements = block.Elements(rows);
  const int64_t kept = rows.KeptRows() * elements + 1;
  const auto stages = static_cast<int64_t>(rows.stages.size());
  const int64_t terms = CeilDiv(elements * stages * kOperations, kept);
  const double combined = static_cast<double>(rows.reductions * 2 * block.Parts());
  const ThreadBlocks work{
      .blocks = rows.count / block.rows,
      .threads = block.Threads(),
      .results = kept,
      .terms = terms,
      .loads = combined / static_cast<double>(terms),
      .shared_bytes = rows.reductions * (block.threads + block.Parts()) * block.rows * 4,
      .moved_bytes = RowTraffic(rows, block),
      .waits = 1 + rows.reductions};
  // Memory is the limit of most blocks. Some eight elements of a thread hide its latencies, and
  // leave registers to other threads; four neighbours are one load.
  constexpr double kElements = 8, kLoaded = 4, kOfFactor = 0.02;
  double factors = std::abs(std::log2(static_cast<double>(elements) / kElements));
  if (!rows.apart) factors += std::abs(std::log2(static_cast<double>(block.run) / kLoaded));
  return ThreadBlockCycles(work, machine) * (1 + kOfFactor * factors);
}

class BlockRowsPlan final : public Plan {
 public:
  // There is at least one choice.
  BlockRowsPlan(RowViews views, std::vector<RowChoice> choices, machine::Machine machine)
      : views_(std::move(views)), choices_(std::move(choices)), machine_(std::move(machine)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    std::vector<RowChoice> left = choices_;
    if (!prefix.Has(kRowPlace)) {
      std::vector<std::string> places;
      for (const RowChoice& choice : left) {
        if (places.empty() || places.back() != TextOf(choice.place)) {
          places.push_back(TextOf(choice.place));
        }
      }
      return TextKnob(kRowPlace, places);
    }
    std::erase_if(left, [&](const RowChoice& choice) {
      return TextOf(choice.place) != prefix.String(kRowPlace);
    });
    for (const RowKnob& knob : kRowKnobs) {
      if (!prefix.Has(knob.name)) return IntKnob(knob.name, ValuesOf(left, knob));
      std::erase_if(left, [&](const RowChoice& choice) {
        return choice.block.*knob.value != prefix.Int(knob.name);
      });
    }
    return std::nullopt;
  }

  std::vector<PricedConfig> Ranked() const override {
    constexpr size_t kMostRanked = 64;
    std::vector<PricedConfig> ranked;
    for (const RowChoice& choice : choices_) {
      ranked.push_back(
          {ConfigOfRows(choice), RowCycles(views_.At(choice.place), choice.block, machine_)});
    }
    std::ranges::stable_sort(ranked, {}, &PricedConfig::cycles);
    if (ranked.size() > kMostRanked) ranked.resize(kMostRanked);
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    RowChoice choice;
    choice.place =
        config.String(kRowPlace) == "registers" ? RowPlace::kRegisters : RowPlace::kMemory;
    for (const RowKnob& knob : kRowKnobs) choice.block.*knob.value = config.Int(knob.name);
    const GridRows& rows = views_.At(choice.place);
    Sequence s = rows.s;
    ComputeRowsByBlocks(&s, rows, choice.block);
    return std::move(s).Finish();
  }

 private:
  // Each once, ascending.
  static std::vector<int64_t> ValuesOf(const std::vector<RowChoice>& choices, const RowKnob& knob) {
    std::vector<int64_t> values;
    for (const RowChoice& choice : choices) values.push_back(choice.block.*knob.value);
    std::ranges::sort(values);
    const auto again = std::ranges::unique(values);
    values.erase(again.begin(), again.end());
    return values;
  }

  static Config ConfigOfRows(const RowChoice& choice) {
    Config config;
    config.Set(kRowPlace, TextOf(choice.place));
    for (const RowKnob& knob : kRowKnobs) config.Set(knob.name, choice.block.*knob.value);
    return config;
  }

  const RowViews views_;
  const std::vector<RowChoice> choices_;
  const machine::Machine machine_;
};

// Whether the primitives take the rows, as one launch.
bool CanSchedule(const GridRows& rows, const RowBlock& block) {
  Sequence s = rows.s;
  ComputeRowsByBlocks(&s, rows, block);
  return s.ok() && s.nest().launches.size() == 1;
}

}  // namespace

std::unique_ptr<const Plan> OpenBlockRows(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  const Task& task = problem->task;
  if (!problem->kernel.rows || problem->kernel.rows->columns < kFewestColumns) return nullptr;
  RowViews views{.in_registers = ViewGridRows(*task.def, /*keeps=*/true),
                 .in_memory = problem->kernel.rows};
  if (views.in_registers && views.in_registers->KeptRows() == 0) views.in_registers.reset();
  std::vector<RowChoice> choices = RowChoicesOf(views, task.machine);
  for (const RowPlace place : {RowPlace::kRegisters, RowPlace::kMemory}) {
    const auto is_there = [&](const RowChoice& choice) { return choice.place == place; };
    const auto first = std::ranges::find_if(choices, is_there);
    if (first == choices.end() || CanSchedule(views.At(place), first->block)) continue;
    std::erase_if(choices, is_there);
  }
  if (choices.empty()) return nullptr;
  return std::make_unique<BlockRowsPlan>(std::move(views), std::move(choices), task.machine);
}

}  // namespace hone::schedule
