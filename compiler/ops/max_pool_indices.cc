// nn.max_pool{1,2,3}d_indices: where nn.max_pool finds its maxima, as positions in the whole tensor
// laid out row-major (or, of the spatial axes, column-major); the first of equal ones.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "compiler/ops/window.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

absl::StatusOr<ir::Type> Infer(const std::string& op, int spatial,
                               const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data", spatial + 2));
  if (data.dtype == DataType::kBool) return OperandError(op, "data", "numbers", data.ToString());
  HONE_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(op, spatial, attrs));
  Shape shape = {data.shape[0], data.shape[1]};
  HONE_RETURN_IF_ERROR(AppendWindowOutput(op, window, data, &shape));
  return TensorOf(std::move(shape), DataType::kInt64);
}

Expr Position(const Shape& shape, const std::vector<Expr>& index, bool column_major) {
  Expr at = index[0] * loop::IntConst(shape[1]) + index[1];
  for (size_t i = 2; i < shape.size(); ++i) at = at * loop::IntConst(shape[i]);
  Expr spatial = loop::IntConst(0);
  for (size_t i = 2; i < shape.size(); ++i) {
    const size_t axis = column_major ? shape.size() + 1 - i : i;
    spatial = spatial * loop::IntConst(shape[axis]) + index[axis];
  }
  // at was scaled by all spatial extents.
  return at + spatial;
}

Buffer Register(const std::string& name, DataType dtype) {
  auto buffer = std::make_shared<loop::BufferNode>(*loop::MakeBuffer(name, dtype, {1}));
  buffer->scope = loop::Scope::kRegister;
  return buffer;
}

std::vector<Buffer> Define(const std::string& name, size_t spatial, loop::NestBuilder& builder,
                           const Buffer& data, const ir::Attrs& attrs, const ir::Type& result) {
  const Window window = *ReadPoolWindow(name, spatial, attrs);
  const Shape& shape = result.tensor.shape;
  const std::string stage = name.substr(3);
  const Buffer out = loop::MakeBuffer(stage, DataType::kInt64, shape);
  const Buffer best = Register(stage + ".best", data->dtype);
  const Buffer where = Register(stage + ".where", DataType::kInt64);
  const Expr zero = loop::IntConst(0);

  std::vector<Expr> axes;
  for (size_t i = 0; i < shape.size(); ++i)
    axes.push_back(loop::Var(fmt::format("{}.i{}", stage, i)));
  std::vector<Expr> taps;
  std::vector<Expr> index = {axes[0], axes[1]};
  std::vector<Expr> inside;
  for (size_t i = 0; i < spatial; ++i) {
    taps.push_back(loop::Var(fmt::format("{}.r{}", stage, i)));
    index.push_back(axes[2 + i] * loop::IntConst(window.strides[i]) -
                    loop::IntConst(window.before[i]) +
                    taps[i] * loop::IntConst(window.dilation[i]));
    inside.push_back(InRange(index.back(), 0, data->shape[2 + i]));
  }
  const Expr element = loop::Load(data, index);
  const Expr first = Lt(loop::Load(where, {zero}), zero);
  const Expr better = Or(first, IsLarger(element, loop::Load(best, {zero})));
  const bool column_major = BoolAttr(attrs, "column_major", false);
  Stmt body = loop::If(
      AllOf(inside),
      loop::If(better, loop::Seq({loop::Store(best, {zero}, element),
                                  loop::Store(where, {zero},
                                              Position(data->shape, index, column_major))})));
  for (size_t i = spatial; i-- > 0;) body = loop::For(taps[i], 0, window.taps[i], body);
  body = loop::Seq({loop::Store(best, {zero}, LowestOf(data->dtype)),
                    loop::Store(where, {zero}, loop::IntConst(-1)), body,
                    loop::Store(out, axes, loop::Load(where, {zero}))});
  body = loop::Alloc(best, loop::Alloc(where, body));
  for (size_t i = axes.size(); i-- > 0;) body = loop::For(axes[i], 0, shape[i], body);
  builder.AddStage(out, body);
  return {out};
}

}  // namespace

void RegisterMaxPoolIndices(std::vector<Op>& table) {
  for (int spatial = 1; spatial <= 3; ++spatial) {
    Op op;
    op.name = fmt::format("nn.max_pool{}d_indices", spatial);
    op.attrs = {{"pool_size", AttrKind::kInts, true}, {"strides", AttrKind::kInts},
                {"padding", AttrKind::kInts},         {"dilation", AttrKind::kInts},
                {"ceil_mode", AttrKind::kBool},       {"column_major", AttrKind::kBool}};
    const std::string name = op.name;
    op.infer_type = [=](const auto& args, const auto& attrs) {
      return Infer(name, spatial, args, attrs);
    };
    op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
      return Define(name, spatial, builder, args[0], attrs, result);
    };
    op.flops = [](const auto&, const auto& attrs, const auto& result) {
      return static_cast<double>(result.tensor.ElementCount() *
                                 Product(IntsAttr(attrs, "pool_size")));
    };
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
