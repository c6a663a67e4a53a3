// topk: the k largest (or smallest) elements along an axis, in order, and their positions; equal
// ones by position. A NaN counts as larger than every number and as equal to another NaN.
//
// Where k is small, each row's best so far are kept in order, and most elements are compared with
// the last of them alone. Where it is larger, positions are merge-sorted: runs of one, two, four
// ... are merged by a launch each, as far as their first k go.
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

// Sorts the positions of one axis of `data`; the first k are right.
class Sorter {
 public:
  Sorter(loop::NestBuilder& builder, Buffer data, int64_t axis, int64_t k, bool largest)
      : builder_(builder), data_(std::move(data)), axis_(axis), k_(k), largest_(largest) {}

  Buffer Run() {
    // Elements of random order enter k ln(n / k) times, with up to k steps.
    constexpr int64_t kFew = 16;
    if (k_ > 0 && (k_ <= kFew || k_ * k_ <= data_->shape[axis_])) return Select();
    Buffer order = builder_.Compute("topk_order", DataType::kInt64, data_->shape,
                                    [&](const std::vector<Expr>& axes) { return axes[axis_]; });
    for (int64_t run = 1; k_ > 0 && run < data_->shape[axis_]; run *= 2) order = Merge(order, run);
    return order;
  }

 private:
  // True where value `b` goes before `a`, which came first.
  Expr IsBefore(const Expr& b, const Expr& a) const {
    return largest_ ? IsLarger(b, a) : IsLarger(a, b);
  }

  // True where the position at `b` of `order` goes before the one at `a`, which came first.
  Expr GoesBefore(const Buffer& order, const std::vector<Expr>& row, const Expr& b,
                  const Expr& a) const {
    const auto value = [&](const Expr& at) {
      return loop::Load(data_, Insert(row, axis_, loop::Load(order, Insert(row, axis_, at))));
    };
    return IsBefore(value(b), value(a));
  }

  // The loops of all axes but this around `body`.
  Stmt OfRows(const std::vector<Expr>& row, Stmt body) const {
    size_t i = row.size();
    for (auto axis = static_cast<int64_t>(data_->shape.size()) - 1; axis >= 0; --axis) {
      if (axis == axis_) continue;
      body = loop::For(row[--i], 0, data_->shape[axis], body);
    }
    return body;
  }
  std::vector<Expr> Row(const std::string& name) const {
    std::vector<Expr> row;
    for (size_t i = 0; i + 1 < data_->shape.size(); ++i) {
      row.push_back(loop::Var(fmt::format("{}.i{}", name, i)));
    }
    return row;
  }

  // Elements are put among the best k before them, whose values and positions a row keeps at hand:
  //   for i { if i < k or x[i] goes before best[k - 1] { for p from k - 1 down {
  //     if p == i or p < i and x[i] goes before best[p] {
  //       best[p] = p > 0 and x[i] goes before best[p - 1] ? best[p - 1] : x[i] } } } }
  Buffer Select() {
    const std::string name = "topk_select";
    Shape shape = data_->shape;
    shape[axis_] = k_;
    const Buffer selected = loop::MakeBuffer(name, DataType::kInt64, shape);
    const auto at_hand = [&](const char* suffix, DataType dtype) {
      auto buffer =
          std::make_shared<loop::BufferNode>(*loop::MakeBuffer(name + suffix, dtype, {k_}));
      buffer->scope = loop::Scope::kLocal;
      return Buffer(buffer);
    };
    const Buffer values = at_hand(".values", data_->dtype);
    const Buffer places = at_hand(".places", DataType::kInt64);
    const std::vector<Expr> row = Row(name);
    const Expr i = loop::Var(name + ".at");
    const Expr step = loop::Var(name + ".step");
    const Expr copy = loop::Var(name + ".k");
    const Expr x = loop::Load(data_, Insert(row, axis_, i));
    const Expr last = loop::IntConst(k_ - 1);
    const Expr p = last - step;
    // Only the chosen side of a select is evaluated.
    const auto is_before = [&](const Expr& place) {
      return IsBefore(x, loop::Load(values, {place}));
    };
    const Expr is_among = loop::Select(Ge(last, i), loop::BoolConst(true), is_before(last));
    const Expr enters = loop::Select(Ge(p, i), Eq(p, i), is_before(p));
    const Expr moves = loop::Select(Eq(p, loop::IntConst(0)), loop::BoolConst(false),
                                    is_before(p - loop::IntConst(1)));
    const auto put = [&](const Buffer& best, const Expr& fresh) {
      return loop::Store(best, {p},
                         loop::Select(moves, loop::Load(best, {p - loop::IntConst(1)}), fresh));
    };
    // The places first: they ask for values that the other store changes.
    const Stmt shift =
        loop::For(step, 0, k_, loop::If(enters, loop::Seq({put(places, i), put(values, x)})));
    Stmt body = loop::Seq(
        {loop::For(i, 0, data_->shape[axis_], loop::If(is_among, shift)),
         loop::For(copy, 0, k_,
                   loop::Store(selected, Insert(row, axis_, copy), loop::Load(places, {copy})))});
    body = loop::Alloc(values, loop::Alloc(places, body));
    builder_.AddStage(selected, OfRows(row, body));
    return selected;
  }

  // Pairs of sorted runs of length `run` become sorted runs of twice that.
  Buffer Merge(const Buffer& order, int64_t run) {
    const std::string name = fmt::format("topk_merge{}", run);
    const int64_t extent = data_->shape[axis_];
    const Buffer merged = loop::MakeBuffer(name, DataType::kInt64, data_->shape);
    const std::vector<Expr> row = Row(name);
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
    const int64_t first = std::min(run, k_);  // of a run, which are in order
    const Expr left_end = Min(begin + loop::IntConst(first), middle);
    const Expr right_end = Min(middle + loop::IntConst(first), end);
    const Expr steps = Min(loop::IntConst(k_), end - begin);
    const Expr l = loop::Load(left, {zero});
    const Expr r = loop::Load(right, {zero});
    // Only the chosen side of a select is evaluated: no read beyond a run.
    const Expr take_right = loop::Select(
        Ge(r, right_end), loop::BoolConst(false),
        loop::Select(Ge(l, left_end), loop::BoolConst(true), GoesBefore(order, row, r, l)));
    const auto take = [&](const Buffer& from) {
      const Expr at = loop::Load(from, {zero});
      return loop::Seq({loop::Store(merged, Insert(row, axis_, begin + step),
                                    loop::Load(order, Insert(row, axis_, at))),
                        loop::Store(from, {zero}, at + loop::IntConst(1))});
    };
    Stmt body =
        loop::Seq({loop::Store(left, {zero}, begin), loop::Store(right, {zero}, middle),
                   loop::For(step, 0, steps, loop::If(take_right, take(right), take(left)))});
    body = loop::Alloc(left, loop::Alloc(right, body));
    body = loop::For(block, 0, (extent + 2 * run - 1) / (2 * run), body);
    builder_.AddStage(merged, OfRows(row, body));
    return merged;
  }

  loop::NestBuilder& builder_;
  const Buffer data_;
  const int64_t axis_;
  const int64_t k_;
  const bool largest_;
};

std::vector<Buffer> Define(loop::NestBuilder& builder, const std::vector<Buffer>& args,
                           const ir::Attrs& attrs, const ir::Type& result) {
  const Buffer& data = args[0];
  const int64_t axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", -1), data->shape.size());
  const Shape& shape = result.fields[0].tensor.shape;
  const Buffer order =
      Sorter(builder, data, axis, shape[axis], BoolAttr(attrs, "largest", true)).Run();
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
