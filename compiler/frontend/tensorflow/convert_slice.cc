// StridedSlice, Slice, Pad, MirrorPad, Tile, GatherV2.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/index_check.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

constexpr int64_t kFar = int64_t{1} << 48;  // beyond every extent; bounds are clamped

// One slice expression an axis, or a new or a lost one: Python's x[a, 1:, ..., newaxis].
struct SliceSpec {
  Shape begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;

  bool Is(int64_t mask, size_t i) const { return (mask >> i & 1) != 0; }
  // A new axis beneath an ellipsis is the ellipsis.
  bool IsNew(size_t i) const { return Is(new_axis_mask, i) && !Is(ellipsis_mask, i); }
};

absl::StatusOr<SliceSpec> ReadSpec(NodeReader& node) {
  SliceSpec spec;
  HONE_ASSIGN_OR_RETURN(spec.begin, node.Ints(1, "begin"));
  HONE_ASSIGN_OR_RETURN(spec.end, node.Ints(2, "end"));
  HONE_ASSIGN_OR_RETURN(spec.strides, node.Ints(3, "strides"));
  HONE_ASSIGN_OR_RETURN(spec.begin_mask, node.IntAttr("begin_mask", 0));
  HONE_ASSIGN_OR_RETURN(spec.end_mask, node.IntAttr("end_mask", 0));
  HONE_ASSIGN_OR_RETURN(spec.ellipsis_mask, node.IntAttr("ellipsis_mask", 0));
  HONE_ASSIGN_OR_RETURN(spec.new_axis_mask, node.IntAttr("new_axis_mask", 0));
  HONE_ASSIGN_OR_RETURN(spec.shrink_mask, node.IntAttr("shrink_axis_mask", 0));
  const size_t count = spec.begin.size();
  if (spec.end.size() != count || spec.strides.size() != count || count > 32) {
    return absl::InvalidArgumentError(
        fmt::format("begin, end and strides of one length up to 32 were expected, found {}, {}, {}",
                    count, spec.end.size(), spec.strides.size()));
  }
  return spec;
}

// The slice of each axis of the data, and the shape with axes added and taken away.
struct Slices {
  Shape begin, end, strides;
  enum class Axis { kKept, kLost, kNew };
  std::vector<Axis> result;
};

absl::Status AddAxis(const SliceSpec& spec, size_t i, const Shape& shape, Slices* slices) {
  const size_t axis = slices->begin.size();
  if (axis >= shape.size()) {
    return absl::InvalidArgumentError(
        fmt::format("slices of {} axes were expected, found more", shape.size()));
  }
  const int64_t stride = spec.strides[i];
  if (spec.Is(spec.shrink_mask, i)) {
    const int64_t at = spec.begin[i] < 0 ? spec.begin[i] + shape[axis] : spec.begin[i];
    if (at < 0 || at >= shape[axis]) {
      return absl::InvalidArgumentError(fmt::format(
          "an index into {} elements was expected, found {}", shape[axis], spec.begin[i]));
    }
    slices->begin.push_back(at);
    slices->end.push_back(at + 1);
    slices->strides.push_back(1);
    slices->result.push_back(Slices::Axis::kLost);
    return absl::OkStatus();
  }
  slices->begin.push_back(spec.Is(spec.begin_mask, i) ? (stride > 0 ? 0 : kFar) : spec.begin[i]);
  slices->end.push_back(spec.Is(spec.end_mask, i) ? (stride > 0 ? kFar : -kFar) : spec.end[i]);
  slices->strides.push_back(stride);
  slices->result.push_back(Slices::Axis::kKept);
  return absl::OkStatus();
}

absl::StatusOr<Slices> SlicesOf(const SliceSpec& spec, const Shape& shape) {
  size_t named = 0;  // axes of the data that have a slice
  for (size_t i = 0; i < spec.begin.size(); ++i) {
    if (!spec.Is(spec.ellipsis_mask, i) && !spec.IsNew(i)) ++named;
  }
  Slices slices;
  const auto keep_whole = [&] {
    slices.begin.push_back(0);
    slices.end.push_back(kFar);
    slices.strides.push_back(1);
    slices.result.push_back(Slices::Axis::kKept);
  };
  for (size_t i = 0; i < spec.begin.size(); ++i) {
    if (spec.Is(spec.ellipsis_mask, i)) {
      for (size_t k = named; k < shape.size(); ++k) keep_whole();
      named = shape.size();  // a second ellipsis stands for nothing
    } else if (spec.IsNew(i)) {
      slices.result.push_back(Slices::Axis::kNew);
    } else {
      HONE_RETURN_IF_ERROR(AddAxis(spec, i, shape, &slices));
    }
  }
  while (slices.begin.size() < shape.size()) keep_whole();
  return slices;
}

Results StridedSlice(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "input"));
  HONE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSpec(node));
  HONE_ASSIGN_OR_RETURN(const Slices slices, SlicesOf(spec, ShapeOf(data)));
  ir::Expr e = data;
  if (!slices.begin.empty()) {
    HONE_ASSIGN_OR_RETURN(
        e, Emit("strided_slice", {data},
                {{"begin", slices.begin}, {"end", slices.end}, {"strides", slices.strides}}));
  }
  Shape shape;
  size_t axis = 0;
  for (const Slices::Axis kind : slices.result) {
    if (kind == Slices::Axis::kNew) shape.push_back(1);
    if (kind == Slices::Axis::kKept) shape.push_back(ShapeOf(e)[axis]);
    if (kind != Slices::Axis::kNew) ++axis;
  }
  return One(Reshaped(e, shape));
}

// A size of -1: up to the end.
Results Slice(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "input"));
  HONE_ASSIGN_OR_RETURN(const Shape begin, node.Ints(1, "begin"));
  HONE_ASSIGN_OR_RETURN(const Shape size, node.Ints(2, "size"));
  const Shape& shape = ShapeOf(data);
  if (begin.size() != shape.size() || size.size() != shape.size()) {
    return absl::InvalidArgumentError(
        fmt::format("begin and size of {} entries were expected, found {} and {}", shape.size(),
                    begin.size(), size.size()));
  }
  Shape end;
  for (size_t i = 0; i < shape.size(); ++i) {
    end.push_back(size[i] == -1 ? shape[i] : begin[i] + size[i]);
    if (begin[i] < 0 || begin[i] > end[i] || end[i] > shape[i]) {
      return absl::InvalidArgumentError(
          fmt::format("a slice within {} was expected, found [{}, {}) on axis {}",
                      data->type->ToString(), begin[i], end[i], i));
    }
  }
  return One(shape.empty() ? data
                           : Emit("strided_slice", {data}, {{"begin", begin}, {"end", end}}));
}

absl::StatusOr<ir::AttrValue> FillOf(NodeReader& node) {
  if (node.size() <= 2) return 0.0;
  return node.Number(2, "constant_values");
}

bool AreZero(const Shape& numbers, size_t begin, size_t end) {
  return std::all_of(numbers.begin() + static_cast<int64_t>(begin),
                     numbers.begin() + static_cast<int64_t>(end), [](int64_t n) { return n == 0; });
}

// Around an image the channels go first, as a convolution comes next.
absl::StatusOr<Value> AsPadded(NodeReader& node, const Value& value, const Shape& widths) {
  const bool around_image = widths.size() == 8 && AreZero(widths, 0, 2) && AreZero(widths, 6, 8) &&
                            IsFloat(DtypeOf(value.e));
  if (!around_image) return value;
  HONE_ASSIGN_OR_RETURN(ir::Expr e, node.layouts().ChannelsFirst(value));
  return Value{std::move(e), true};
}

Results Pad(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value given, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const Shape widths, node.Ints(1, "paddings"));
  HONE_ASSIGN_OR_RETURN(const ir::AttrValue fill, FillOf(node));
  if (static_cast<int64_t>(widths.size()) != 2 * RankOf(given.e)) {
    return absl::InvalidArgumentError(fmt::format("paddings of {} numbers were expected, found {}",
                                                  2 * RankOf(given.e), widths.size()));
  }
  if (AreZero(widths, 0, widths.size())) return std::vector<Value>{given};
  HONE_ASSIGN_OR_RETURN(const Value value, AsPadded(node, given, widths));
  Shape moved = widths;
  for (int64_t axis = 0; value.channels_first && axis < 4; ++axis) {
    const int64_t to = ChannelsFirstAxis(axis);
    moved[2 * to] = widths[2 * axis];
    moved[2 * to + 1] = widths[2 * axis + 1];
  }
  return One(Emit("nn.pad", {value.e}, {{"pad_width", moved}, {"pad_value", fill}}),
             value.channels_first);
}

Results Tile(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "input"));
  HONE_ASSIGN_OR_RETURN(const Shape multiples, node.Ints(1, "multiples"));
  return One(Emit("tile", {data}, {{"reps", multiples}}));
}

// The positions of an axis with its mirror image around it: REFLECT has the outermost elements
// once, SYMMETRIC twice.
absl::StatusOr<std::vector<int64_t>> Mirrored(int64_t extent, int64_t before, int64_t after,
                                              bool symmetric) {
  const int64_t most = symmetric ? extent : extent - 1;
  if (before < 0 || after < 0 || before > most || after > most) {
    return absl::InvalidArgumentError(
        fmt::format("paddings of 0 to {} were expected for {} elements, found {} and {}", most,
                    extent, before, after));
  }
  std::vector<int64_t> at;
  for (int64_t i = -before; i < extent + after; ++i) {
    const int64_t edge = symmetric ? 1 : 0;
    at.push_back(i < 0 ? -i - edge : i < extent ? i : 2 * (extent - 1) - i + edge);
  }
  return at;
}

Results MirrorPad(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const Shape widths, node.Ints(1, "paddings"));
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.StringAttr("mode", ""));
  if (static_cast<int64_t>(widths.size()) != 2 * RankOf(value.e) ||
      (mode != "REFLECT" && mode != "SYMMETRIC")) {
    return absl::InvalidArgumentError(fmt::format(
        "paddings of {} numbers and a mode of REFLECT or SYMMETRIC were expected, found "
        "{} and \"{}\"",
        2 * RankOf(value.e), widths.size(), mode));
  }
  ir::Expr e = value.e;
  for (size_t i = 0; i < widths.size() / 2; ++i) {
    if (widths[2 * i] == 0 && widths[2 * i + 1] == 0) continue;
    const auto given = static_cast<int64_t>(i);
    const int64_t axis = value.channels_first ? ChannelsFirstAxis(given) : given;
    constexpr int64_t kMost = int64_t{1} << 40;
    HONE_RETURN_IF_ERROR(node.layouts().allowance().Take(3 * std::min(ShapeOf(e)[axis], kMost) *
                                                         static_cast<int64_t>(sizeof(int64_t))));
    HONE_ASSIGN_OR_RETURN(const auto at, Mirrored(ShapeOf(e)[axis], widths[2 * i],
                                                  widths[2 * i + 1], mode == "SYMMETRIC"));
    HONE_ASSIGN_OR_RETURN(e, Emit("take", {e, IntsConstant(at)}, {{"axis", axis}}));
  }
  return One(e, value.channels_first);
}

// Axes [first, last) of a shape.
Shape Extents(const ir::Expr& e, int64_t first, int64_t last) {
  return Shape(ShapeOf(e).begin() + first, ShapeOf(e).begin() + last);
}

// For a gather along `axis` where the first `batch` axes of both operands are the same: the axis
// goes behind those, and the axes that stood between come back before those of the indices.
absl::StatusOr<ir::Expr> GatherInBatches(const ir::Expr& data, const ir::Expr& indices,
                                         int64_t axis, int64_t batch) {
  const int64_t rank = RankOf(data);
  if (batch > RankOf(indices) || batch > axis ||
      Extents(data, 0, batch) != Extents(indices, 0, batch)) {
    return absl::InvalidArgumentError(
        fmt::format("batch_dims of {} axes that {} and {} have in common, before axis {}, was "
                    "expected",
                    batch, data->type->ToString(), indices->type->ToString(), axis));
  }
  Shape order;
  for (int64_t i = 0; i < rank; ++i) order.push_back(i);
  std::rotate(order.begin() + batch, order.begin() + axis, order.begin() + axis + 1);
  Formula f;
  Shape one = ShapeOf(indices);
  one.push_back(1);
  const ir::Expr picked = f.Call("gather_nd", {f.Transpose(data, order), f.Reshape(indices, one)},
                                 {{"batch_dims", batch}});
  // (batch, indices, between, behind) as (batch, between, indices, behind).
  const int64_t own = RankOf(indices) - batch;
  const int64_t between = axis - batch;
  Shape back;
  for (int64_t i = 0; i < rank - 1 + own; ++i) back.push_back(i);
  std::rotate(back.begin() + batch, back.begin() + batch + own,
              back.begin() + batch + own + between);
  return f.FinishOne(f.Transpose(picked, back));
}

Results Gather(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(int64_t batch, node.IntAttr("batch_dims", 0));
  node.Raw("validate_indices");
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "params"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Given(1, "indices"));
  int64_t axis = 0;
  if (node.size() > 2) {
    HONE_ASSIGN_OR_RETURN(axis, node.Axis(2, RankOf(data)));
  }
  if (axis < RankOf(data)) HONE_RETURN_IF_ERROR(CheckIndices(indices, ShapeOf(data)[axis]));
  if (batch < 0) batch += RankOf(indices);
  if (batch == 0) return One(Emit("take", {data, indices}, {{"axis", axis}}));
  if (batch < 0) return absl::InvalidArgumentError("batch_dims that the indices have was expected");
  return One(GatherInBatches(data, indices, axis, batch));
}

Results GatherNd(NodeReader& node) {
  node.Raw("bad_indices_policy");
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "params"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Given(1, "indices"));
  return One(Emit("gather_nd", {data, indices}, {{"batch_dims", int64_t{0}}}));
}

}  // namespace

void AddSliceConverters(ConverterTable& table) {
  table["StridedSlice"] = StridedSlice;
  table["Slice"] = Slice;
  table["Tile"] = Tile;
  table["Pad"] = Pad;
  table["PadV2"] = Pad;
  table["MirrorPad"] = MirrorPad;
  table["Gather"] = Gather;
  table["GatherV2"] = Gather;
  table["GatherNd"] = GatherNd;
}

}  // namespace hone::frontend::tf
