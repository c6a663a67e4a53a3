#include "compiler/ops/reshape.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using InferShape =
    std::function<absl::StatusOr<Shape>(const ir::TensorType& data, const ir::Attrs& attrs)>;

// `newshape` may hold one -1 (what is left) and zeros (the extent of the data at that position).
absl::StatusOr<Shape> ReshapeShape(const ir::TensorType& data, const ir::Attrs& attrs) {
  Shape shape = IntsAttr(attrs, "newshape");
  const Shape asked = shape;
  const int64_t count = Product(data.shape);
  int64_t known = 1;
  int64_t open = -1;
  const auto error = [&] {
    return OperandError("reshape", "data", "the elements of newshape=" + ShapeText(asked),
                        data.ToString());
  };
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && open < 0) {
      open = static_cast<int64_t>(i);
      continue;
    }
    if (shape[i] == 0 && i < data.shape.size()) shape[i] = data.shape[i];
    if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) return error();
  }
  if (open >= 0) {
    if (known == 0 || count % known != 0) return error();
    shape[open] = count / known;
    known = count;
  }
  if (known != count) return error();
  return shape;
}

absl::StatusOr<Shape> FlattenShape(const ir::TensorType& data, const ir::Attrs&) {
  if (data.shape.empty()) {
    return OperandError("nn.batch_flatten", "data", "at least one axis", data.ToString());
  }
  return Shape{data.shape[0], Product(Shape(data.shape.begin() + 1, data.shape.end()))};
}

absl::StatusOr<Shape> SqueezeShape(const ir::TensorType& data, const ir::Attrs& attrs) {
  Shape axes;
  if (attrs.contains("axis")) {
    const Shape given = IntsAttr(attrs, "axis");
    if (given.empty()) return data.shape;
    HONE_ASSIGN_OR_RETURN(axes, NormalizeAxes("squeeze", given, data.shape.size()));
  }
  Shape shape;
  for (size_t i = 0; i < data.shape.size(); ++i) {
    const bool named = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (named && data.shape[i] != 1) {
      return OperandError("squeeze", "data", fmt::format("extent 1 on axis {}", i),
                          data.ToString());
    }
    const bool dropped = attrs.contains("axis") ? named : data.shape[i] == 1;
    if (!dropped) shape.push_back(data.shape[i]);
  }
  return shape;
}

absl::StatusOr<Shape> ExpandShape(const ir::TensorType& data, const ir::Attrs& attrs) {
  const int64_t count = IntAttr(attrs, "num_newaxis", 1);
  if (count < 0 || count > 16) {
    return AttrError("expand_dims", "num_newaxis", "0 to 16", fmt::format("{}", count));
  }
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis("expand_dims", IntAttr(attrs, "axis", 0),
                                                          data.shape.size() + 1));
  Shape shape = data.shape;
  shape.insert(shape.begin() + axis, count, 1);
  return shape;
}

// A run of axes [in_begin, in_end) of the data and [out_begin, out_end) of the result that hold the
// same elements: indices need linearising within a run only, so most reshapes need no division.
struct Run {
  size_t in_begin, in_end, out_begin, out_end;
};

std::vector<Run> MatchRuns(const Shape& in, const Shape& out) {
  std::vector<Run> runs;
  size_t i = 0;
  size_t o = 0;
  while (i < in.size() || o < out.size()) {
    Run run = {i, i, o, o};
    int64_t in_product = 1;
    int64_t out_product = 1;
    if (i < in.size()) in_product *= in[i++];
    if (o < out.size()) out_product *= out[o++];
    while (in_product != out_product) {
      if (in_product < out_product) {
        in_product *= in[i++];
      } else {
        out_product *= out[o++];
      }
    }
    run.in_end = i;
    run.out_end = o;
    runs.push_back(run);
  }
  return runs;
}

std::vector<Expr> DataIndex(const Shape& in, const Shape& out, const std::vector<Expr>& axes) {
  std::vector<Expr> index(in.size());
  for (const Run& run : MatchRuns(in, out)) {
    Expr linear = loop::IntConst(0);
    for (size_t o = run.out_begin; o < run.out_end; ++o) {
      linear = linear * loop::IntConst(out[o]) + axes[o];
    }
    for (size_t i = run.in_end; i > run.in_begin; --i) {
      const bool outermost = i - 1 == run.in_begin;
      index[i - 1] = in[i - 1] == 1 ? loop::IntConst(0)
                     : outermost    ? linear
                                    : FloorMod(linear, loop::IntConst(in[i - 1]));
      if (!outermost) linear = FloorDiv(linear, loop::IntConst(in[i - 1]));
    }
  }
  return index;
}

Op MakeReshape(const std::string& name, std::vector<AttrSpec> attrs, InferShape infer) {
  Op op = InjectiveOp(name, 1, std::move(attrs));
  op.infer_type = [=](const auto& args, const auto& call) -> absl::StatusOr<ir::Type> {
    HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(name, args, 0, "data"));
    HONE_ASSIGN_OR_RETURN(Shape shape, infer(data, call));
    return TensorOf(std::move(shape), data.dtype);
  };
  const std::string stage = name == "nn.batch_flatten" ? "batch_flatten" : name;
  op.define = [=](auto& builder, const auto& args, const auto&,
                  const auto& result) -> std::vector<loop::Buffer> {
    const Shape& in = args[0]->shape;
    const Shape& out = result.tensor.shape;
    return {builder.Compute(stage, result.tensor.dtype, out, [&](const std::vector<Expr>& axes) {
      const bool empty = Product(out) == 0;  // runs need not match where nothing is moved
      return loop::Load(args[0], empty ? std::vector<Expr>(in.size(), loop::IntConst(0))
                                       : DataIndex(in, out, axes));
    })};
  };
  return op;
}

}  // namespace

bool OnlyReshapes(std::string_view op) {
  return op == "reshape" || op == "nn.batch_flatten" || op == "squeeze" || op == "expand_dims";
}

void RegisterReshape(std::vector<Op>& table) {
  table.push_back(MakeReshape("reshape", {{"newshape", AttrKind::kInts, true}}, ReshapeShape));
  table.push_back(MakeReshape("nn.batch_flatten", {}, FlattenShape));
  table.push_back(MakeReshape("squeeze", {{"axis", AttrKind::kInts}}, SqueezeShape));
  table.push_back(MakeReshape("expand_dims",
                              {{"axis", AttrKind::kInt, true}, {"num_newaxis", AttrKind::kInt}},
                              ExpandShape));
}

}  // namespace hone::ops
