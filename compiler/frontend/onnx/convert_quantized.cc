// Integer and quantised operators as Hone's qnn.*: QuantizeLinear, DequantizeLinear,
// DynamicQuantizeLinear, ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/four_bit.h"
#include "compiler/frontend/onnx/matrix_product.h"
#include "compiler/frontend/onnx/tensor.h"
#include "compiler/frontend/onnx/windows.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

bool IsOne(const ir::Expr& e) { return e->type->tensor.ElementCount() == 1; }

// Every element of a scale that stands for a block of `size` elements along the axis.
ir::Expr RepeatBlocks(Formula& f, const ir::Expr& param, int64_t size, int64_t axis,
                      int64_t extent) {
  std::vector<int64_t> blocks(extent);
  for (int64_t i = 0; i < extent; ++i) blocks[i] = i / size;
  return f.Call("take", {param, IntsConstant(blocks)}, {{"axis", axis}});
}

// Scale and zero point of QuantizeLinear and DequantizeLinear, with the axis they are along.
struct Params {
  ir::Expr scale;
  ir::Expr zero_point;
  ir::Attrs attrs;
};

absl::StatusOr<Params> ReadParams(Formula& f, NodeReader& node, const ir::Expr& x,
                                  DataType fallback) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr scale, node.Arg(1, "scale"));
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t block_size, node.Int("block_size", 0));
  HONE_RETURN_IF_ERROR(node.Int("saturate", 1).status());  // of 8-bit floats alone
  Params params = {f.Squeezed(scale), ZeroPoint(f, node, 2, fallback), {}};
  if (IsOne(scale) && IsOne(params.zero_point)) return params;
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given, RankOf(x)));
  params.attrs = {{"axis", axis}};
  if (block_size == 0) return params;
  const int64_t extent = ShapeOf(x)[axis];
  const int64_t blocks = block_size > 0 ? extent / block_size + (extent % block_size != 0) : -1;
  if (RankOf(scale) != RankOf(x) || ShapeOf(scale)[axis] != blocks) {
    return absl::InvalidArgumentError(
        fmt::format("a scale for blocks of {} along axis {} of {} was expected, found {}",
                    block_size, axis, x->type->ToString(), scale->type->ToString()));
  }
  HONE_RETURN_IF_ERROR(node.Generate(2 * extent * static_cast<int64_t>(sizeof(int64_t))));
  params.scale = RepeatBlocks(f, scale, block_size, axis, extent);
  if (RankOf(params.zero_point) == RankOf(x)) {
    params.zero_point = RepeatBlocks(f, params.zero_point, block_size, axis, extent);
  }
  return params;
}

// A type that an attribute gives a number for; `fallback` where it is absent or 0.
absl::StatusOr<DataType> TypeAttr(NodeReader& node, const std::string& name, DataType fallback) {
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int(name, 0));
  if (given == 0) return fallback;
  return FromOnnxType(static_cast<int>(given));
}

Results QuantizeLinear(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "x"));
  HONE_ASSIGN_OR_RETURN(const int64_t number, node.Int("output_dtype", 0));
  const std::optional<DataType> bytes = FourBitIn(static_cast<int>(number));
  DataType dtype = bytes.value_or(DataType::kUInt8);
  if (!bytes) {
    HONE_ASSIGN_OR_RETURN(dtype, TypeAttr(node, "output_dtype", dtype));
  }
  Formula f;
  HONE_ASSIGN_OR_RETURN(const Params params, ReadParams(f, node, x, dtype));
  // The division is in the type of the scale; since opset 23 an attribute may say another.
  HONE_ASSIGN_OR_RETURN(const DataType inner, TypeAttr(node, "precision", DtypeOf(params.scale)));
  const ir::Expr data = IsFloat(DtypeOf(x)) ? x : f.Cast(x, DataType::kFloat32);
  const ir::Expr quantized =
      f.Call("qnn.quantize", {data, f.Cast(params.scale, inner), params.zero_point}, params.attrs);
  HONE_RETURN_IF_ERROR(f.status());
  if (!bytes && !node.Has(2, Trait::kFourBit)) return One(quantized);
  node.GiveTrait(0, Trait::kFourBit);
  return One(ClippedToFourBit(quantized));
}

Results DequantizeLinear(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "x"));
  Formula f;
  HONE_ASSIGN_OR_RETURN(const Params params, ReadParams(f, node, x, DtypeOf(x)));
  // The result is of the type of the scale; since opset 23 an attribute may say another.
  HONE_ASSIGN_OR_RETURN(const DataType dtype,
                        TypeAttr(node, "output_dtype", DtypeOf(params.scale)));
  return f.Finish({f.Call("qnn.dequantize", {x, f.Cast(params.scale, dtype), params.zero_point},
                          params.attrs)});
}

// To uint8, by the range of the data with 0 in it.
Results DynamicQuantizeLinear(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "x"));
  if (DtypeOf(x) != DataType::kFloat32) {
    return absl::InvalidArgumentError(
        fmt::format("x of float32 was expected, found {}", x->type->ToString()));
  }
  Formula f;
  const ir::Expr zero = f.Number(0, x);
  const ir::Expr low = f.Min(f.Call("min", {x}), zero);
  const ir::Expr high = f.Max(f.Call("max", {x}), zero);
  const ir::Expr range = f.Sub(high, low);
  const ir::Expr scale =
      f.Where(f.Call("equal", {range, zero}), f.Number(1, x), f.Div(range, f.Number(255, x)));
  const ir::Expr point = f.Call("round", {f.Div(f.Sub(zero, low), scale)});
  const ir::Expr zero_point =
      f.Cast(f.Call("clip", {point}, {{"a_min", 0.0}, {"a_max", 255.0}}), DataType::kUInt8);
  return f.Finish({f.Call("qnn.quantize", {x, scale, zero_point}), scale, zero_point});
}

// x by w in int32, each less its zero point.
absl::StatusOr<ir::Expr> Conv(Formula& f, NodeReader& node, const ir::Expr& x, const ir::Expr& w,
                              const ir::Expr& x_zero_point, const ir::Expr& w_zero_point) {
  const int64_t spatial = RankOf(x) - 2;
  if (spatial < 1 || spatial > 3 || RankOf(w) != RankOf(x)) {
    return absl::InvalidArgumentError(
        fmt::format("x and w of one rank from 3 to 5 were expected, found {} and {}",
                    x->type->ToString(), w->type->ToString()));
  }
  const Shape taps(ShapeOf(w).begin() + 2, ShapeOf(w).end());
  HONE_ASSIGN_OR_RETURN(const Shape kernel_shape, node.Ints("kernel_shape", taps));
  if (kernel_shape != taps) {
    return absl::InvalidArgumentError("kernel_shape is not that of " + w->type->ToString());
  }
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, x, taps));
  HONE_ASSIGN_OR_RETURN(const int64_t groups, node.Int("group", 1));
  attrs["groups"] = groups;
  return f.FinishOne(f.Call(fmt::format("qnn.conv{}d", spatial), {x, w, x_zero_point, w_zero_point},
                            std::move(attrs)));
}

Results ConvInteger(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "x"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr w, node.Arg(1, "w"));
  Formula f;
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Conv(f, node, x, w, ZeroPoint(f, node, 2, DtypeOf(x)),
                                              ZeroPoint(f, node, 3, DtypeOf(w))));
  return std::vector<ir::Expr>{result};
}

absl::StatusOr<std::vector<ir::Expr>> Operands(const NodeReader& node, size_t count) {
  std::vector<ir::Expr> args;
  for (size_t i = 0; i < count; ++i) {
    HONE_ASSIGN_OR_RETURN(ir::Expr arg, node.Arg(i, "operand"));
    args.push_back(std::move(arg));
  }
  return args;
}

// x, its scale and zero point, w with its, y's, and a bias in the scale of the sums.
Results QLinearConv(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> args, Operands(node, 8));
  Formula f;
  HONE_ASSIGN_OR_RETURN(ir::Expr sum,
                        Conv(f, node, args[0], args[3], f.Squeezed(args[2]), f.Squeezed(args[5])));
  if (node.Has(8)) sum = f.Call("nn.bias_add", {sum, node.args()[8]}, {{"axis", int64_t{1}}});
  const ir::Expr scale =
      f.Div(f.Mul(f.Squeezed(args[1]), f.Squeezed(args[4])), f.Squeezed(args[6]));
  return f.Finish(
      {f.Call("qnn.requantize", {sum, scale, f.Squeezed(args[7])}, {{"axis", int64_t{1}}})});
}

// A vector with one element a row of a stack of matrices, as a shape that broadcasts with it.
ir::Expr AlongRows(Formula& f, const ir::Expr& param) {
  if (!param) return param;
  return RankOf(param) == 1 && !IsOne(param) ? f.Reshape(param, {ShapeOf(param)[0], 1}) : param;
}

// a by b in int32, each less its zero point: a's is one number, one a row, or broadcasts; b's one
// number, one a column, or broadcasts.
absl::StatusOr<ir::Expr> Product(Formula& f, const ir::Expr& a, const ir::Expr& b,
                                 const ir::Expr& a_zero_point, const ir::Expr& b_zero_point) {
  const ir::Expr za = f.Squeezed(a_zero_point);
  const ir::Expr zb = f.Squeezed(b_zero_point);
  HONE_RETURN_IF_ERROR(f.status());
  const bool by_row = RankOf(za) == 1 && RankOf(a) == 2 && RankOf(b) == 2;
  const bool by_column = RankOf(zb) == 1 && RankOf(b) >= 2;
  if ((RankOf(za) == 0 || by_row) && (RankOf(zb) == 0 || by_column)) {
    return MatrixProduct(
        a, b, [&](Formula& g, bool batched, const ir::Expr& rows, const ir::Expr& columns) {
          return g.Call(batched ? "qnn.batch_matmul" : "qnn.dense", {rows, columns, za, zb});
        });
  }
  const auto centred = [&](const ir::Expr& x, const ir::Expr& zero_point) {
    return f.Sub(f.Cast(x, DataType::kInt32), f.Cast(zero_point, DataType::kInt32));
  };
  const ir::Expr left = centred(a, AlongRows(f, za));
  const ir::Expr right = centred(b, zb);
  HONE_RETURN_IF_ERROR(f.status());
  return MatrixProduct(left, right);
}

Results MatMulInteger(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr b, node.Arg(1, "B"));
  Formula f;
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Product(f, a, b, ZeroPoint(f, node, 2, DtypeOf(a)),
                                                 ZeroPoint(f, node, 3, DtypeOf(b))));
  return std::vector<ir::Expr>{result};
}

Results QLinearMatMul(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> args, Operands(node, 8));
  Formula f;
  HONE_ASSIGN_OR_RETURN(const ir::Expr sum, Product(f, args[0], args[3], args[2], args[5]));
  // Scales along rows and columns, and the result's along rows.
  const ir::Expr product = f.Mul(AlongRows(f, f.Squeezed(args[1])), f.Squeezed(args[4]));
  ir::Expr scale = f.Div(product, AlongRows(f, f.Squeezed(args[6])));
  ir::Expr zero_point = AlongRows(f, f.Squeezed(args[7]));
  HONE_RETURN_IF_ERROR(f.status());
  for (ir::Expr* param : {&scale, &zero_point}) {
    if (RankOf(*param) == 0 || RankOf(*param) >= RankOf(sum)) continue;
    Shape shape = ShapeOf(*param);
    shape.insert(shape.begin(), RankOf(sum) - shape.size(), 1);
    *param = f.Reshape(*param, shape);
  }
  const ir::Expr wide = f.Cast(scale, DataType::kFloat32);
  return f.Finish({f.Call("qnn.requantize", {sum, wide, zero_point})});
}

}  // namespace

void AddQuantizedConverters(ConverterTable& table) {
  table["ConvInteger"] = ConvInteger;
  table["DequantizeLinear"] = DequantizeLinear;
  table["DynamicQuantizeLinear"] = DynamicQuantizeLinear;
  table["MatMulInteger"] = MatMulInteger;
  table["QLinearConv"] = QLinearConv;
  table["QLinearMatMul"] = QLinearMatMul;
  table["QuantizeLinear"] = QuantizeLinear;
}

}  // namespace hone::frontend
