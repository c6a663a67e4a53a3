#include "compiler/schedule/conv/winograd_price.h"

#include <algorithm>

#include "compiler/schedule/price/reading.h"

namespace hone::schedule {
namespace {

// The bytes of all filters, by phases, before they are transformed.
int64_t TapBytes(const Conv& conv, const WinogradPlan& plan) {
  return plan.Taps() * conv.UsedDepthTaps() * plan.channels * conv.out * 4;
}

// The cycles of a group's products that leave the first cache before they are transformed; they are
// counted where there are so few channels that the products are the larger part of what a block
// takes.
double SpillCycles(const Conv& conv, const WinogradPlan& plan, const WinogradChoice& choice) {
  const int64_t group = std::min(choice.tile.vectors, conv.out_vectors) * conv.lanes;
  if (plan.channels >= group) return 0;
  const RegisterTileProblem& problem = choice.problem;
  const auto values =
      static_cast<double>(plan.Positions() * problem.rows * problem.columns * choice.depth);
  const double bytes = values * static_cast<double>(4 * (group + plan.channels));
  const auto groups =
      static_cast<double>(CeilDiv(CeilDiv(conv.out_vectors, choice.tile.vectors), choice.parts));
  const double spilled =
      std::max(0.0, bytes - static_cast<double>(conv.machine.memory.l1.size_bytes));
  return groups * 2 * spilled / conv.Reads().BlockRate(static_cast<int64_t>(bytes));
}

// The cycles of what comes from further away because a block's transformed data took its place in
// the second cache: the input, which the kernel before has written, the result, filters. A quarter
// of it does no harm; what is beyond costs a line written back and one read (measured: 64 channels
// at 56x56 in blocks of 0.26, 0.45, 0.90 and 1.8 MB, of 2 MB).
double DisplacedCycles(const Conv& conv, int64_t data_bytes) {
  const int64_t beyond = std::max<int64_t>(0, data_bytes - conv.machine.memory.l2.size_bytes / 4);
  return 2 * static_cast<double>(beyond) / conv.Reads().StreamRate();
}

// The cycles of the products of a block and a part of the output channels, and of filters that are
// transformed in registers, a row of positions at a time, among the multiplications.
double MultiplyCycles(const Conv& conv, const WinogradPlan& plan, const WinogradChoice& choice) {
  const double depth = static_cast<double>(choice.depth);
  const auto parts = static_cast<double>(choice.parts);
  if (!choice.in_registers) {
    return plan.used * static_cast<double>(plan.Positions()) * depth *
           TileCycles(choice.problem, choice.tile) / parts;
  }
  constexpr double kTransform = 2.5;  // operations of a vector of filters at a position
  const auto filters = static_cast<double>(plan.channels * conv.out_vectors * plan.Positions());
  const double operations =
      static_cast<double>(choice.tile.rows * choice.tile.columns) + kTransform;
  return filters * operations / conv.machine.issue.multiply_adds_a_cycle / parts;
}

// The cycles that it takes to transform filters `chunk` channels at a time: those of the transform,
// unless it is in registers, and what the sums of a chunk cost until the next adds to them.
double ChunkCycles(const Conv& conv, const WinogradPlan& plan, const WinogradChoice& choice) {
  // Measured: cycles of a vector of filters at a position, in the first cache and beyond it.
  const int64_t bytes =
      choice.chunk * ChunkBytesOfChannel(conv, plan, choice.tile, choice.in_registers);
  const double position = bytes <= conv.machine.memory.l1.size_bytes ? 1.5 : 2.8;
  const auto filters = static_cast<double>(plan.channels * conv.UsedDepthTaps() * conv.out_vectors);
  const RegisterTileProblem& problem = choice.problem;
  const auto products = static_cast<double>(plan.Positions() * problem.rows * problem.columns *
                                            choice.depth * conv.out_vectors);
  const double chunks = static_cast<double>(plan.channels / choice.chunk) * conv.MeanDepthTaps();
  const auto product_bytes =
      static_cast<int64_t>(products) / conv.out_vectors * choice.tile.vectors * conv.lanes * 4;
  double add = 1;
  if (product_bytes > conv.machine.memory.l1.size_bytes) {
    add += 2.0 * static_cast<double>(conv.lanes * 4) / conv.Reads().BlockRate(product_bytes);
  }
  const double transform =
      choice.in_registers ? 0 : position * static_cast<double>(plan.Positions()) * filters;
  return (transform + add * products * chunks) / static_cast<double>(choice.parts);
}

}  // namespace

int64_t FilterBytes(const Conv& conv, const WinogradPlan& plan) {
  return plan.Positions() * conv.UsedDepthTaps() * plan.channels * conv.out * 4;
}

int64_t PanelBytes(const Conv& conv, const WinogradPlan& plan, int64_t depth, int64_t tiles) {
  return plan.Positions() * tiles * plan.Slices(conv, depth) * plan.channels * 4;
}

int64_t ChunkBytesOfChannel(const Conv& conv, const WinogradPlan& plan, const RegisterTile& tile,
                            bool in_registers) {
  const int64_t taps = plan.Taps() * tile.vectors * conv.lanes;
  const int64_t row = in_registers ? plan.Positions() * tile.rows * tile.columns
                                   : plan.products_w * tile.vectors * conv.lanes;
  return 4 * (taps + row);
}

double PhaseCopyCycles(const Conv& conv) {
  if (!DilationOf(conv)) return 0;
  const auto bytes = static_cast<double>(conv.batch * (conv.data_bytes + conv.result_bytes));
  return bytes / conv.machine.copy.winograd_phases_bytes_a_cycle /
         static_cast<double>(conv.machine.Threads());
}

double BlockCycles(const Conv& conv, const WinogradPlan& plan, const WinogradChoice& choice) {
  const RegisterTileProblem& problem = choice.problem;
  const RegisterTile& tile = choice.tile;
  const int64_t depth = choice.depth;
  const auto parts = static_cast<double>(choice.parts);
  const double positions = static_cast<double>(plan.Positions());
  const double tiles = static_cast<double>(problem.rows * problem.columns);
  const double multiply = MultiplyCycles(conv, plan, choice);
  // Each position is a sum of four or so, once along the columns and once along the rows.
  const double terms =
      std::max(4.0, static_cast<double>(std::max(plan.products_h, plan.products_w) - 2));
  const double transform = plan.InColumns() ? terms : terms / 2;
  const double data =
      transform * positions * tiles *
      static_cast<double>(plan.Slices(conv, depth) * CeilDiv(plan.channels, conv.lanes));
  const int64_t sums = plan.InColumns() ? plan.products_h * plan.tile_w : plan.tile_h * plan.tile_w;
  const double results = transform * static_cast<double>(sums) * tiles *
                         static_cast<double>(depth * conv.out_vectors) / parts;
  const int64_t filter_bytes = choice.chunk > 0 ? TapBytes(conv, plan) : FilterBytes(conv, plan);
  const double filters =
      static_cast<double>(filter_bytes) / conv.Reads().BlockRate(filter_bytes) / parts;
  const int64_t data_bytes = PanelBytes(conv, plan, depth, problem.rows * problem.columns);
  double again = 0;  // each group reads it
  if (2 * data_bytes > 3 * conv.machine.memory.l2.size_bytes) {
    again = static_cast<double>(CeilDiv(conv.out_vectors, tile.vectors) * data_bytes) /
            conv.Reads().BlockRate(data_bytes) / parts;
  }
  const double rest =
      data + results + DisplacedCycles(conv, data_bytes) + SpillCycles(conv, plan, choice);
  if (choice.chunk > 0) {
    const double chunks = ChunkCycles(conv, plan, choice);
    return WhileReading(WhilePrefetching(multiply + chunks, filters), again) + rest;
  }
  // What is prefetched comes along with the products; a register tile does so for one vector.
  const auto tiles_of_block = static_cast<double>(TilesOfPanel(problem, tile) * depth);
  const double late = std::max(0.0, 1 - tiles_of_block / static_cast<double>(tile.vectors));
  return WhileReading(multiply, filters + again, late) + rest;
}

}  // namespace hone::schedule
