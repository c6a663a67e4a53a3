// SpaceToBatchND and BatchToSpaceND: blocks of positions that become entries of the batch, and the
// way back. A dilated convolution stands between them in graphs of old.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

// The data (batch, positions..., rest...), the extents of a block, and what stands before and after
// each axis of positions.
struct Blocks {
  ir::Expr data;
  Shape block;
  Shape margins;
  int64_t count = 1;  // entries of a block
};

absl::StatusOr<Blocks> ReadBlocks(NodeReader& node, const char* margins) {
  Blocks b;
  HONE_ASSIGN_OR_RETURN(b.data, node.Given(0, "input"));
  HONE_ASSIGN_OR_RETURN(b.block, node.Ints(1, "block_shape"));
  HONE_ASSIGN_OR_RETURN(b.margins, node.Ints(2, margins));
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto in_range = [](const Shape& numbers, int64_t least) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](int64_t n) { return n >= least && n < kMost; });
  };
  bool fits = in_range(b.block, 1) && in_range(b.margins, 0) && !b.block.empty() &&
              b.margins.size() == 2 * b.block.size() &&
              RankOf(b.data) > static_cast<int64_t>(b.block.size());
  for (const int64_t extent : b.block) fits = fits && (b.count *= extent) < kMost;
  if (fits) return b;
  return absl::InvalidArgumentError(fmt::format(
      "a positive block_shape for axes behind the batch of {} and two {} for each were "
      "expected, found ({}) and ({})",
      b.data->type->ToString(), margins, fmt::join(b.block, ", "), fmt::join(b.margins, ", ")));
}

Results SpaceToBatch(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Blocks b, ReadBlocks(node, "paddings"));
  const size_t axes = b.block.size();
  Formula f;
  Shape widths(2 * RankOf(b.data), 0);
  std::copy(b.margins.begin(), b.margins.end(), widths.begin() + 2);
  const ir::Expr padded = f.Call("nn.pad", {b.data}, {{"pad_width", widths}});
  HONE_RETURN_IF_ERROR(f.status());
  // (batch, blocks, place in the block, blocks, ..., rest): places first, then the batch.
  Shape split = {ShapeOf(padded)[0]};
  Shape order;
  Shape shape = {ShapeOf(padded)[0] * b.count};
  for (size_t i = 0; i < axes; ++i) {
    const int64_t extent = ShapeOf(padded)[1 + i];
    if (extent % b.block[i] != 0) {
      return absl::InvalidArgumentError(
          fmt::format("an axis of whole blocks of {} was expected, found {} with its paddings",
                      b.block[i], extent));
    }
    split.insert(split.end(), {extent / b.block[i], b.block[i]});
    order.push_back(static_cast<int64_t>(2 + 2 * i));
    shape.push_back(extent / b.block[i]);
  }
  order.push_back(0);
  for (size_t i = 0; i < axes; ++i) order.push_back(static_cast<int64_t>(1 + 2 * i));
  for (size_t i = 1 + axes; i < ShapeOf(padded).size(); ++i) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back(ShapeOf(padded)[i]);
    shape.push_back(ShapeOf(padded)[i]);
  }
  return One(f.FinishOne(f.Reshape(f.Transpose(f.Reshape(padded, split), order), shape)));
}

Results BatchToSpace(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Blocks b, ReadBlocks(node, "crops"));
  const Shape& given = ShapeOf(b.data);
  const auto axes = static_cast<int64_t>(b.block.size());
  if (given[0] % b.count != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "a batch of whole blocks of {} entries was expected, found {}", b.count, given[0]));
  }
  // (places..., batch, blocks..., rest): a place goes behind its blocks.
  Shape split = b.block;
  split.push_back(given[0] / b.count);
  split.insert(split.end(), given.begin() + 1, given.end());
  Shape order = {axes};
  Shape shape = {given[0] / b.count};
  for (int64_t i = 0; i < axes; ++i) {
    order.insert(order.end(), {axes + 1 + i, i});
    shape.push_back(given[1 + i] * b.block[i]);
  }
  for (int64_t i = 1 + axes; i < RankOf(b.data); ++i) {
    order.push_back(axes + i);
    shape.push_back(given[i]);
  }
  Formula f;
  ir::Expr e = f.Reshape(f.Transpose(f.Reshape(b.data, split), order), shape);
  for (int64_t i = 0; i < axes; ++i) {
    const int64_t end = shape[1 + i] - b.margins[2 * i + 1];
    if (b.margins[2 * i] > end) {
      return absl::InvalidArgumentError(
          fmt::format("crops of at most {} were expected, found {} and {}", shape[1 + i],
                      b.margins[2 * i], b.margins[2 * i + 1]));
    }
    e = f.Slice(e, 1 + i, b.margins[2 * i], end);
  }
  return One(f.FinishOne(e));
}

}  // namespace

void AddSpaceBatchConverters(ConverterTable& table) {
  table["SpaceToBatchND"] = SpaceToBatch;
  table["BatchToSpaceND"] = BatchToSpace;
}

}  // namespace hone::frontend::tf
