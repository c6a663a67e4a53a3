// sum, mean, max, min, prod over any axes (none given: all).
#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using Combiner = loop::NestBuilder::Combiner;

struct Reduction {
  std::string name;
  Combiner combiner;
  bool mean = false;
};

// The axes reduced, sorted; with `exclude` the others.
absl::StatusOr<Shape> ReducedAxes(const std::string& op, const ir::Attrs& attrs, size_t rank) {
  HONE_ASSIGN_OR_RETURN(const Shape axes, NormalizeAxes(op, IntsAttr(attrs, "axis"), rank));
  if (!BoolAttr(attrs, "exclude", false)) return axes;
  Shape others;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i)) others.push_back(i);
  }
  return others;
}

absl::StatusOr<ir::Type> Infer(const Reduction& reduction, const std::vector<ir::Type>& args,
                               const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(reduction.name, args, 0, "data"));
  if (data.dtype == DataType::kBool) {
    return OperandError(reduction.name, "data", "numbers", data.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const Shape axes, ReducedAxes(reduction.name, attrs, data.shape.size()));
  const bool keep = BoolAttr(attrs, "keepdims", false);
  Shape shape;
  for (size_t i = 0; i < data.shape.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (!reduced) shape.push_back(data.shape[i]);
    if (reduced && keep) shape.push_back(1);
  }
  return TensorOf(std::move(shape), data.dtype);
}

Expr Neutral(Combiner combiner, DataType dtype) {
  switch (combiner) {
    case Combiner::kAdd:
      return loop::Const(0, dtype);
    case Combiner::kMul:
      return loop::Const(1, dtype);
    case Combiner::kMin:
      return HighestOf(dtype);
    case Combiner::kMax:
      return LowestOf(dtype);
  }
  return {};
}

// The index into the data: result axes where they are kept, reduction axes where they are not.
std::vector<Expr> DataIndex(const std::vector<Expr>& axes, const std::vector<Expr>& r,
                            const Shape& reduced, size_t rank, bool keep) {
  std::vector<Expr> index;
  size_t next_axis = 0;
  size_t next_reduced = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (std::binary_search(reduced.begin(), reduced.end(), static_cast<int64_t>(i))) {
      index.push_back(r[next_reduced++]);
      if (keep) ++next_axis;
    } else {
      index.push_back(axes[next_axis++]);
    }
  }
  return index;
}

std::vector<loop::Buffer> Define(const Reduction& reduction, loop::NestBuilder& builder,
                                 const loop::Buffer& data, const ir::Attrs& attrs,
                                 const ir::Type& result) {
  const size_t rank = data->shape.size();
  const Shape reduced = *ReducedAxes(reduction.name, attrs, rank);
  const bool keep = BoolAttr(attrs, "keepdims", false);
  const bool sums = reduction.combiner == Combiner::kAdd || reduction.combiner == Combiner::kMul;
  const DataType dtype = sums ? AccumulatorType(data->dtype) : data->dtype;
  Shape extents;
  for (const int64_t axis : reduced) extents.push_back(data->shape[axis]);
  const loop::Buffer total = builder.Reduce(
      reduction.mean ? "mean_sum" : reduction.name, dtype, result.tensor.shape, extents,
      reduction.combiner, Neutral(reduction.combiner, dtype),
      [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
        return CastTo(dtype, loop::Load(data, DataIndex(axes, r, reduced, rank, keep)));
      });
  if (!reduction.mean) {
    return {CastStage(builder, reduction.name + "_cast", total, result.tensor.dtype)};
  }
  const Expr count = loop::Const(static_cast<double>(Product(extents)), dtype);
  return {builder.Compute(
      "mean", result.tensor.dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        return CastTo(result.tensor.dtype, Divide(loop::Load(total, axes), count));
      })};
}

}  // namespace

void RegisterReduce(std::vector<Op>& table) {
  const Reduction reductions[] = {{"sum", Combiner::kAdd},
                                  {"mean", Combiner::kAdd, true},
                                  {"prod", Combiner::kMul},
                                  {"max", Combiner::kMax},
                                  {"min", Combiner::kMin}};
  for (const Reduction& reduction : reductions) {
    Op op;
    op.name = reduction.name;
    op.kind = FuseKind::kReduction;
    op.attrs = {
        {"axis", AttrKind::kInts}, {"keepdims", AttrKind::kBool}, {"exclude", AttrKind::kBool}};
    op.infer_type = [reduction](const auto& args, const auto& attrs) {
      return Infer(reduction, args, attrs);
    };
    op.define = [reduction](auto& builder, const auto& args, const auto& attrs,
                            const auto& result) {
      return Define(reduction, builder, args[0], attrs, result);
    };
    op.flops = [](const auto& args, const auto&, const auto&) {
      return static_cast<double>(args[0].tensor.ElementCount());
    };
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
