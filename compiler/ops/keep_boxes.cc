// nn.keep_boxes: greedy non-maximum suppression of boxes (batch, boxes, 4) by class. `order` has
// the boxes of each class, (batch, classes, boxes), best score first; the result, (batch, classes,
// most), those of them in that order that overlap none before them in it by more than the
// threshold, then -1.
#include <fmt/format.h>

#include <cmath>

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

constexpr char kName[] = "nn.keep_boxes";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType boxes, TensorOperand(kName, args, 0, "boxes", 3));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType scores, TensorOperand(kName, args, 1, "scores", 3));
  if (!IsFloat(boxes.dtype) || boxes.shape[2] != 4 || boxes.shape[1] == 0) {
    return OperandError(kName, "boxes", "four floats a box", boxes.ToString());
  }
  const ir::TensorType expected{{boxes.shape[0], scores.shape[1], boxes.shape[1]}, boxes.dtype};
  HONE_RETURN_IF_ERROR(ExactOperand(kName, args, 1, "scores", expected).status());
  HONE_RETURN_IF_ERROR(
      ExactOperand(kName, args, 2, "order", {expected.shape, DataType::kInt64}).status());
  const int64_t most = IntAttr(attrs, "most", 0);
  if (most < 1 || most > boxes.shape[1]) {
    return AttrError(kName, "most", fmt::format("1 to {}", boxes.shape[1]),
                     fmt::format("{}", most));
  }
  return TensorOf({boxes.shape[0], scores.shape[1], most}, DataType::kInt64);
}

class Suppression {
 public:
  Suppression(const std::vector<Buffer>& args, const ir::Attrs& attrs, const ir::Type& result)
      : boxes_(args[0]),
        scores_(args[1]),
        order_(args[2]),
        attrs_(attrs),
        dtype_(AccumulatorType(args[0]->dtype)),
        count_(boxes_->shape[1]),
        most_(result.tensor.shape[2]),
        kept_(loop::MakeBuffer("keep_boxes", DataType::kInt64, result.tensor.shape)),
        places_(AtHand(".places", {most_}, loop::Scope::kLocal)),
        found_(AtHand(".found", {1}, loop::Scope::kRegister)),
        covered_(AtHand(".covered", {1}, loop::Scope::kRegister)) {}

  const Buffer& kept() const { return kept_; }

  //   found = 0
  //   for i { c = order[i]; if found < most and scores[c] > threshold {
  //     covered = 0
  //     for j from 0 to found { if overlap(c, places[j]) > threshold { covered = 1 } }
  //     if covered == 0 { places[found] = c; found = found + 1 } } }
  //   for j { kept[j] = j < found ? places[j] : -1 }
  Stmt Body() const {
    const Expr i = loop::Var("keep_boxes.at");
    const Expr j = loop::Var("keep_boxes.other");
    const Expr k = loop::Var("keep_boxes.k");
    const Expr zero = loop::IntConst(0);
    const Expr one = loop::IntConst(1);
    const Expr found = loop::Load(found_, {zero});
    const Expr candidate = Place(loop::Load(order_, {batch_, class_, i}));
    const Expr other = Place(loop::Load(places_, {j}));
    const Stmt compare = loop::For(j, 0, Min(found, loop::IntConst(most_)),
                                   loop::If(Lt(Number("iou_threshold"), Overlap(candidate, other)),
                                            loop::Store(covered_, {zero}, one)));
    const Stmt take =
        loop::Seq({loop::Store(places_, {Min(found, loop::IntConst(most_ - 1))}, candidate),
                   loop::Store(found_, {zero}, found + one)});
    const Stmt consider = loop::Seq({loop::Store(covered_, {zero}, zero), compare,
                                     loop::If(Eq(loop::Load(covered_, {zero}), zero), take)});
    const Stmt fill = loop::For(
        k, 0, most_,
        loop::Store(kept_, {batch_, class_, k},
                    loop::Select(Lt(k, found), loop::Load(places_, {k}), loop::IntConst(-1))));
    const Expr is_left = Lt(found, loop::IntConst(most_));
    const Expr enters = attrs_.contains("score_threshold")
                            ? loop::And(is_left, Lt(Number("score_threshold"), Score(candidate)))
                            : is_left;
    Stmt body = loop::Seq({loop::Store(found_, {zero}, zero),
                           loop::For(i, 0, count_, loop::If(enters, consider)), fill});
    body = loop::Alloc(places_, loop::Alloc(found_, loop::Alloc(covered_, body)));
    return loop::For(batch_, 0, boxes_->shape[0], loop::For(class_, 0, scores_->shape[1], body));
  }

 private:
  struct Interval {
    Expr low;
    Expr high;
  };

  static Buffer AtHand(const char* suffix, Shape shape, loop::Scope scope) {
    auto buffer = std::make_shared<loop::BufferNode>(
        *loop::MakeBuffer(std::string("keep_boxes") + suffix, DataType::kInt64, std::move(shape)));
    buffer->scope = scope;
    return buffer;
  }

  Expr Number(const char* attr) const { return loop::Const(FloatAttr(attrs_, attr, 0), dtype_); }
  // The number of a box that exists, whatever the order holds.
  Expr Place(const Expr& box) const {
    return Min(Max(box, loop::IntConst(0)), loop::IntConst(count_ - 1));
  }
  Expr Score(const Expr& box) const {
    return CastTo(dtype_, loop::Load(scores_, {batch_, class_, box}));
  }

  // Along one axis: two corners in either order, or center and size. A negative size makes a box
  // that overlaps nothing, as in onnxruntime.
  Interval Extent(const Expr& box, int axis) const {
    const auto number = [&](int i) {
      return CastTo(dtype_, loop::Load(boxes_, {batch_, box, loop::IntConst(i)}));
    };
    const Expr a = number(axis);
    const Expr b = number(2 + axis);
    if (!BoolAttr(attrs_, "center_point", false)) return {Min(a, b), Max(a, b)};
    const Expr half = b * loop::Const(0.5, dtype_);
    return {a - half, a + half};
  }

  // Intersection over union; 0 of boxes without an area.
  Expr Overlap(const Expr& a, const Expr& b) const {
    const Expr zero = loop::Const(0, dtype_);
    Expr common = loop::Const(1, dtype_);
    Expr area_a = loop::Const(1, dtype_);
    Expr area_b = loop::Const(1, dtype_);
    for (const int axis : {0, 1}) {
      const Interval x = Extent(a, axis);
      const Interval y = Extent(b, axis);
      common = common * Max(zero, Min(x.high, y.high) - Max(x.low, y.low));
      area_a = area_a * (x.high - x.low);
      area_b = area_b * (y.high - y.low);
    }
    // None is less than 0. Without these steps between them products and sums would become one
    // operation of one rounding, and boxes on a grid meet the threshold to the last bit.
    common = Max(zero, common);
    const Expr both = Max(zero, area_a) + Max(zero, area_b) - common;
    const Expr has_area = Lt(zero, both);
    return loop::Select(has_area, Divide(common, both), zero);
  }

  const Buffer boxes_;
  const Buffer scores_;
  const Buffer order_;
  const ir::Attrs& attrs_;
  const DataType dtype_;
  const int64_t count_;
  const int64_t most_;
  const Buffer kept_;
  const Buffer places_;   // of those kept so far
  const Buffer found_;    // how many these are
  const Buffer covered_;  // whether one of them covers the candidate
  const Expr batch_ = loop::Var("keep_boxes.i0");
  const Expr class_ = loop::Var("keep_boxes.i1");
};

std::vector<Buffer> Define(loop::NestBuilder& builder, const std::vector<Buffer>& args,
                           const ir::Attrs& attrs, const ir::Type& result) {
  const Suppression suppression(args, attrs, result);
  builder.AddStage(suppression.kept(), suppression.Body());
  return {suppression.kept()};
}

}  // namespace

void RegisterKeepBoxes(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = op.max_args = 3;
  op.kind = FuseKind::kOpaque;
  op.attrs = {{"most", AttrKind::kInt, true},
              {"iou_threshold", AttrKind::kFloat},
              {"score_threshold", AttrKind::kFloat},
              {"center_point", AttrKind::kBool}};
  op.infer_type = Infer;
  op.define = Define;
  // A comparison of two boxes is some 20 operations; each candidate meets about half of those kept.
  op.flops = [](const auto& args, const auto&, const auto& result) {
    return static_cast<double>(args[1].tensor.ElementCount()) * 10 *
           static_cast<double>(result.tensor.shape[2]);
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
