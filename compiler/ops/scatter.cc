// scatter_elements and scatter_nd: the data with updates put at positions that a tensor holds.
// reduction says what an update does to what is there: none (replaces it), add, mul, min, max.
// Negative positions count from the end, others are clamped into the data, so no store goes beyond
// it.
//
// The updates run in order, on one thread: several may meet at one position.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using loop::Stmt;

constexpr const char* kReductions[] = {"none", "add", "mul", "min", "max"};

absl::Status CheckCommon(const std::string& op, const std::vector<ir::Type>& args,
                         const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indices, TensorOperand(op, args, 1, "indices"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType updates, TensorOperand(op, args, 2, "updates"));
  if (!IsInteger(indices.dtype)) return OperandError(op, "indices", "integers", indices.ToString());
  if (updates.dtype != data.dtype) {
    return OperandError(op, "updates", std::string(Name(data.dtype)) + " as the data",
                        updates.ToString());
  }
  if (Product(data.shape) == 0 && Product(updates.shape) != 0) {
    return OperandError(op, "data", "a tensor that is not empty", data.ToString());
  }
  const std::string reduction = StringAttr(attrs, "reduction", "none");
  if (std::find(std::begin(kReductions), std::end(kReductions), reduction) ==
      std::end(kReductions)) {
    return AttrError(op, "reduction", "none, add, mul, min or max", reduction);
  }
  if (reduction != "none" && data.dtype == DataType::kBool) {
    return OperandError(op, "data", "numbers", data.ToString());
  }
  return absl::OkStatus();
}

Expr Combine(const std::string& reduction, const Expr& there, const Expr& update) {
  if (reduction == "add") return there + update;
  if (reduction == "mul") return there * update;
  if (reduction == "min") return Min(there, update);
  if (reduction == "max") return Max(there, update);
  return update;
}

std::vector<Expr> Vars(const std::string& prefix, size_t count) {
  std::vector<Expr> vars;
  for (size_t i = 0; i < count; ++i) vars.push_back(loop::Var(fmt::format("{}{}", prefix, i)));
  return vars;
}

Stmt Loops(const std::vector<Expr>& vars, const Shape& shape, Stmt body) {
  for (size_t i = vars.size(); i-- > 0;) body = loop::For(vars[i], 0, shape[i], std::move(body));
  return body;
}

// A copy of the data, then the updates at the index that `at` gives for each.
loop::Buffer ScatterStage(
    loop::NestBuilder& builder, const std::string& name, const std::vector<loop::Buffer>& args,
    const std::string& reduction,
    const std::function<std::vector<Expr>(const std::vector<Expr>& update)>& at) {
  const loop::Buffer& data = args[0];
  const loop::Buffer& updates = args[2];
  const loop::Buffer out = loop::MakeBuffer(name, data->dtype, data->shape);
  const std::vector<Expr> axes = Vars(name + ".c", data->shape.size());
  const Stmt copy = Loops(axes, data->shape, loop::Store(out, axes, loop::Load(data, axes)));
  const std::vector<Expr> update = Vars(name + ".u", updates->shape.size());
  const std::vector<Expr> index = at(update);
  const Stmt put =
      Loops(update, updates->shape,
            loop::Store(out, index,
                        Combine(reduction, loop::Load(out, index), loop::Load(updates, update))));
  builder.AddStage(out, loop::Seq({copy, put}));
  return out;
}

absl::StatusOr<ir::Type> InferElements(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  constexpr char kName[] = "scatter_elements";
  HONE_RETURN_IF_ERROR(CheckCommon(kName, args, attrs));
  const ir::TensorType& data = args[0].tensor;
  const ir::TensorType& indices = args[1].tensor;
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", 0), data.shape.size()));
  if (args[2].tensor.shape != indices.shape) {
    return OperandError(kName, "updates", "the shape of the indices " + ShapeText(indices.shape),
                        args[2].ToString());
  }
  bool fits = indices.shape.size() == data.shape.size();
  for (size_t i = 0; fits && i < data.shape.size(); ++i) {
    fits = static_cast<int64_t>(i) == axis || indices.shape[i] <= data.shape[i];
  }
  if (!fits) {
    return OperandError(kName, "indices",
                        fmt::format("no more than {} but for axis {}", data.ToString(), axis),
                        indices.ToString());
  }
  return args[0];
}

std::vector<loop::Buffer> DefineElements(loop::NestBuilder& builder,
                                         const std::vector<loop::Buffer>& args,
                                         const ir::Attrs& attrs) {
  const Shape& shape = args[0]->shape;
  const int64_t axis = *NormalizeAxis("scatter_elements", IntAttr(attrs, "axis", 0), shape.size());
  return {ScatterStage(builder, "scatter_elements", args, StringAttr(attrs, "reduction", "none"),
                       [&](const std::vector<Expr>& update) {
                         std::vector<Expr> index = update;
                         index[axis] = IndexWithin(loop::Load(args[1], update), shape[axis]);
                         return index;
                       })};
}

// The innermost axis of the indices holds positions in the outermost axes of the data.
absl::StatusOr<ir::Type> InferNd(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  constexpr char kName[] = "scatter_nd";
  HONE_RETURN_IF_ERROR(CheckCommon(kName, args, attrs));
  const Shape& data = args[0].tensor.shape;
  const Shape& indices = args[1].tensor.shape;
  const int64_t depth = indices.empty() ? 0 : indices.back();
  if (depth < 1 || depth > static_cast<int64_t>(data.size())) {
    return OperandError(kName, "indices",
                        fmt::format("1 to {} positions on its last axis", data.size()),
                        args[1].ToString());
  }
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + depth, data.end());
  if (args[2].tensor.shape != expected) {
    return OperandError(kName, "updates", "the shape " + ShapeText(expected), args[2].ToString());
  }
  return args[0];
}

std::vector<loop::Buffer> DefineNd(loop::NestBuilder& builder,
                                   const std::vector<loop::Buffer>& args, const ir::Attrs& attrs) {
  const Shape& shape = args[0]->shape;
  const auto outer = static_cast<int64_t>(args[1]->shape.size()) - 1;
  return {ScatterStage(builder, "scatter_nd", args, StringAttr(attrs, "reduction", "none"),
                       [&](const std::vector<Expr>& update) {
                         std::vector<Expr> index;
                         for (int64_t i = 0; i < args[1]->shape.back(); ++i) {
                           std::vector<Expr> at(update.begin(), update.begin() + outer);
                           at.push_back(loop::IntConst(i));
                           index.push_back(IndexWithin(loop::Load(args[1], at), shape[i]));
                         }
                         index.insert(index.end(), update.begin() + outer, update.end());
                         return index;
                       })};
}

}  // namespace

void RegisterScatter(std::vector<Op>& table) {
  Op elements;
  elements.name = "scatter_elements";
  elements.min_args = elements.max_args = 3;
  elements.attrs = {{"axis", AttrKind::kInt}, {"reduction", AttrKind::kString}};
  elements.infer_type = InferElements;
  elements.define = [](auto& builder, const auto& args, const auto& attrs, const auto&) {
    return DefineElements(builder, args, attrs);
  };
  elements.flops = [](const auto& args, const auto&, const auto&) {
    return static_cast<double>(args[2].tensor.ElementCount());
  };
  Op nd = elements;
  nd.name = "scatter_nd";
  nd.attrs = {{"reduction", AttrKind::kString}};
  nd.infer_type = InferNd;
  nd.define = [](auto& builder, const auto& args, const auto& attrs, const auto&) {
    return DefineNd(builder, args, attrs);
  };
  table.push_back(std::move(elements));
  table.push_back(std::move(nd));
}

}  // namespace hone::ops
