// topk: the k largest (or smallest) elements along an axis, in order, and their positions; equal
// ones by position. A NaN comes where the comparisons leave it.
//
// A merge sort of positions: runs of one, two, four ... are merged by a launch each.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

constexpr char kName[] = "topk";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  if (data.dtype == DataType::kBool) {
    return OperandError(kName, "data", "numbers", data.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", -1), data.shape.size()));
  const int64_t k = IntAttr(attrs, "k", 1);
  if (k < 0 || k > data.shape[axis]) {
    return AttrError(kName, "k", fmt::format("0 to {}", data.shape[axis]), fmt::format("{}", k));
  }
  Shape shape = data.shape;
  shape[axis] = k;
  ir::Type result;
  result.is_tuple = true;
  result.fields = {TensorOf(shape, data.dtype), TensorOf(shape, DataType::kInt64)};
  return result;
}

std::vector<Expr> Insert(std::vector<Expr> axes, int64_t axis, const Expr& e) {
  axes.insert(axes.begin() + axis, e);
  return axes;
}

// Sorts the positions of one axis of `data`.
class Sorter {
 public:
  Sorter(loop::NestBuilder& builder, Buffer data, int64_t axis, bool largest)
      : builder_(builder), data_(std::move(data)), axis_(axis), largest_(largest) {}

  Buffer Run() {
    Buffer order = builder_.Compute("topk_order", DataType::kInt64, data_->shape,
                                    [&](const std::vector<Expr>& axes) { return axes[axis_]; });
    for (int64_t run = 1; run < data_->shape[axis_]; run *= 2) order = Merge(order, run);
    return order;
  }

 private:
  // True where the position at `b` of `order` goes before the one at `a`, which came first.
  Expr GoesBefore(const Buffer& order, const std::vector<Expr>& row, const Expr& b,
                  const Expr& a) const {
    const auto value = [&](const Expr& at) {
      return loop::Load(data_, Insert(row, axis_, loop::Load(order, Insert(row, axis_, at))));
    };
    return largest_ ? Lt(value(a), value(b)) : Lt(value(b), value(a));
  }

  // Pairs of sorted runs of length `run` become sorted runs of twice that.
  Buffer Merge(const Buffer& order, int64_t run) {
    const std::string name = fmt::format("topk_merge{}", run);
    const int64_t extent = data_->shape[axis_];
    const Buffer merged = loop::MakeBuffer(name, DataType::kInt64, data_->shape);
    std::vector<Expr> row;
    for (size_t i = 0; i + 1 < data_->shape.size(); ++i) {
      row.push_back(loop::Var(fmt::format("{}.i{}", name, i)));
    }
    const auto cursor = [&](const char* suffix) {
      auto buffer = std::make_shared<loop::BufferNode>(
          *loop::MakeBuffer(name + suffix, DataType::kInt64, {1}));
      buffer->scope = loop::Scope::kRegister;
      return Buffer(buffer);
    };
    const Buffer left = cursor(".left");
    const Buffer right = cursor(".right");
    const Expr block = loop::Var(name + ".block");
    const Expr step = loop::Var(name + ".step");
    const Expr zero = loop::IntConst(0);
    const Expr begin = block * loop::IntConst(2 * run);
    const Expr middle = Min(begin + loop::IntConst(run), loop::IntConst(extent));
    const Expr end = Min(begin + loop::IntConst(2 * run), loop::IntConst(extent));
    const Expr l = loop::Load(left, {zero});
    const Expr r = loop::Load(right, {zero});
    // Only the chosen side of a select is evaluated: no read beyond a run.
    const Expr take_right = loop::Select(
        Ge(r, end), loop::BoolConst(false),
        loop::Select(Ge(l, middle), loop::BoolConst(true), GoesBefore(order, row, r, l)));
    const auto take = [&](const Buffer& from) {
      const Expr at = loop::Load(from, {zero});
      return loop::Seq({loop::Store(merged, Insert(row, axis_, begin + step),
                                    loop::Load(order, Insert(row, axis_, at))),
                        loop::Store(from, {zero}, at + loop::IntConst(1))});
    };
    Stmt body =
        loop::Seq({loop::Store(left, {zero}, begin), loop::Store(right, {zero}, middle),
                   loop::For(step, 0, end - begin, loop::If(take_right, take(right), take(left)))});
    body = loop::Alloc(left, loop::Alloc(right, body));
    body = loop::For(block, 0, (extent + 2 * run - 1) / (2 * run), body);
    size_t i = row.size();
    for (auto axis = static_cast<int64_t>(data_->shape.size()) - 1; axis >= 0; --axis) {
      if (axis == axis_) continue;
      body = loop::For(row[--i], 0, data_->shape[axis], body);
    }
    builder_.AddStage(merged, body);
    return merged;
  }

  loop::NestBuilder& builder_;
  const Buffer data_;
  const int64_t axis_;
  const bool largest_;
};

std::vector<Buffer> Define(loop::NestBuilder& builder, const std::vector<Buffer>& args,
                           const ir::Attrs& attrs, const ir::Type& result) {
  const Buffer& data = args[0];
  const int64_t axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", -1), data->shape.size());
  const Buffer order = Sorter(builder, data, axis, BoolAttr(attrs, "largest", true)).Run();
  const Shape& shape = result.fields[0].tensor.shape;
  const Buffer values =
      builder.Compute("topk_values", data->dtype, shape, [&](const std::vector<Expr>& axes) {
        std::vector<Expr> index = axes;
        index[axis] = loop::Load(order, axes);
        return loop::Load(data, index);
      });
  const Buffer indices =
      builder.Compute("topk_indices", DataType::kInt64, shape,
                      [&](const std::vector<Expr>& axes) { return loop::Load(order, axes); });
  return {values, indices};
}

}  // namespace

void RegisterTopK(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.attrs = {{"k", AttrKind::kInt, true}, {"axis", AttrKind::kInt}, {"largest", AttrKind::kBool}};
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
