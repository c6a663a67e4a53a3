// einsum: a contraction by its equation, "ij,jk->ik": one letter an axis, letters that the result
// lacks are summed over. A letter may appear twice in an operand (its diagonal); an extent of 1
// broadcasts. No blanks and no ellipsis: importers write those out.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "einsum";

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

absl::StatusOr<Equation> Parse(const std::string& text) {
  Equation equation;
  const size_t arrow = text.find("->");
  const auto error = [&] {
    return AttrError(kName, "equation", "letters a operand, \"->\" and letters of the result",
                     text);
  };
  if (arrow == std::string::npos) return error();
  equation.operands.emplace_back();
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') {
      equation.operands.emplace_back();
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      equation.operands.back() += c;
    } else {
      return error();
    }
  }
  equation.result = text.substr(arrow + 2);
  for (const char c : equation.result) {
    if (std::count(equation.result.begin(), equation.result.end(), c) != 1) return error();
    if (text.substr(0, arrow).find(c) == std::string::npos || c == ',') return error();
  }
  return equation;
}

using Extents = std::map<char, int64_t>;

absl::StatusOr<Extents> ExtentsOf(const Equation& equation, const std::vector<Shape>& shapes) {
  Extents extents;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string& letters = equation.operands[i];
    const std::string name = fmt::format("{}", i);
    if (letters.size() != shapes[i].size()) {
      return OperandError(kName, name, fmt::format("{} axes ({})", letters.size(), letters),
                          ShapeText(shapes[i]));
    }
    for (size_t k = 0; k < letters.size(); ++k) {
      int64_t& extent = extents.try_emplace(letters[k], 1).first->second;
      const int64_t own = shapes[i][k];
      if (own != extent && own != 1 && extent != 1) {
        return OperandError(kName, name, fmt::format("extent {} on axis {}", extent, letters[k]),
                            ShapeText(shapes[i]));
      }
      if (own != 1) extent = own;
    }
  }
  return extents;
}

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const Equation equation, Parse(StringAttr(attrs, "equation", "")));
  if (equation.operands.size() != args.size()) {
    return AttrError(kName, "equation", fmt::format("{} operands", args.size()),
                     fmt::format("{}", equation.operands.size()));
  }
  std::vector<Shape> shapes;
  DataType dtype = DataType::kFloat32;
  for (size_t i = 0; i < args.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const ir::TensorType data,
                          TensorOperand(kName, args, i, fmt::format("{}", i)));
    if (i == 0) dtype = data.dtype;
    if (data.dtype == DataType::kBool || data.dtype != dtype) {
      return OperandError(kName, fmt::format("{}", i), "numbers of one type", data.ToString());
    }
    shapes.push_back(data.shape);
  }
  HONE_ASSIGN_OR_RETURN(const Extents extents, ExtentsOf(equation, shapes));
  Shape shape;
  for (const char c : equation.result) shape.push_back(extents.at(c));
  return TensorOf(std::move(shape), dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const Equation equation = *Parse(StringAttr(attrs, "equation", ""));
  std::vector<Shape> shapes;
  for (const loop::Buffer& arg : args) shapes.push_back(arg->shape);
  const DataType dtype = AccumulatorType(result.tensor.dtype);
  std::string summed;
  Shape reduce;
  const Extents extents = *ExtentsOf(equation, shapes);
  for (const auto& [letter, extent] : extents) {
    if (equation.result.find(letter) != std::string::npos) continue;
    summed += letter;
    reduce.push_back(extent);
  }
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    Expr product;
    for (size_t i = 0; i < args.size(); ++i) {
      std::vector<Expr> index;
      for (size_t k = 0; k < shapes[i].size(); ++k) {
        const size_t kept = equation.result.find(equation.operands[i][k]);
        const Expr at =
            kept != std::string::npos ? axes[kept] : r[summed.find(equation.operands[i][k])];
        index.push_back(shapes[i][k] == 1 ? loop::IntConst(0) : at);
      }
      const Expr factor = CastTo(dtype, loop::Load(args[i], index));
      product = product ? product * factor : factor;
    }
    return product;
  };
  if (summed.empty()) {
    return {builder.Compute("einsum", result.tensor.dtype, result.tensor.shape,
                            [&](const std::vector<Expr>& axes) {
                              return CastTo(result.tensor.dtype, value(axes, {}));
                            })};
  }
  const loop::Buffer sum =
      builder.Reduce("einsum", dtype, result.tensor.shape, reduce,
                     loop::NestBuilder::Combiner::kAdd, loop::Const(0, dtype), value);
  return {CastStage(builder, "einsum_cast", sum, result.tensor.dtype)};
}

double Flops(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  const Equation equation = *Parse(StringAttr(attrs, "equation", ""));
  std::vector<Shape> shapes;
  for (const ir::Type& arg : args) shapes.push_back(arg.tensor.shape);
  auto flops = static_cast<double>(args.size());
  const Extents extents = *ExtentsOf(equation, shapes);
  for (const auto& [letter, extent] : extents) {
    flops *= static_cast<double>(extent);
  }
  return flops;
}

}  // namespace

void RegisterEinsum(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.max_args = -1;
  op.kind = FuseKind::kReduction;
  op.attrs = {{"equation", AttrKind::kString, true}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto& args, const auto& attrs, const auto&) { return Flops(args, attrs); };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
