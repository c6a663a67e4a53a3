// nn.pad: pad_width = [before axis 0, after axis 0, before axis 1, ...]; pad_mode "constant" (with
// pad_value), "edge" or "reflect".
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "nn.pad";
constexpr int64_t kMaxWidth = int64_t{1} << 31;

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  const Shape widths = IntsAttr(attrs, "pad_width");
  if (widths.size() != 2 * data.shape.size()) {
    return AttrError(kName, "pad_width", fmt::format("{} integers", 2 * data.shape.size()),
                     ShapeText(widths));
  }
  const std::string mode = StringAttr(attrs, "pad_mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect") {
    return AttrError(kName, "pad_mode", "constant, edge or reflect", mode);
  }
  for (size_t i = 0; i < widths.size(); ++i) {
    const int64_t extent = data.shape[i / 2];
    const int64_t limit = mode == "reflect" ? extent - 1 : kMaxWidth;
    if (widths[i] < 0 || widths[i] > limit || (mode == "edge" && extent == 0)) {
      return AttrError(kName, "pad_width", fmt::format("widths from 0 to {}", limit),
                       fmt::format("{} on axis {} of {}", widths[i], i / 2, data.ToString()));
    }
  }
  for (size_t i = 0; i < widths.size(); ++i) data.shape[i / 2] += widths[i];
  return TensorOf(std::move(data.shape), data.dtype);
}

// The position in the data that a padded position stands for.
Expr Mirror(const Expr& at, int64_t extent, bool reflect) {
  const Expr last = loop::IntConst(extent - 1);
  if (!reflect) return Min(Max(at, loop::IntConst(0)), last);
  const Expr folded = loop::Select(Lt(at, loop::IntConst(0)), loop::IntConst(0) - at, at);
  return loop::Select(Lt(last, folded), loop::IntConst(2 * (extent - 1)) - folded, folded);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const Shape widths = IntsAttr(attrs, "pad_width");
  const std::string mode = StringAttr(attrs, "pad_mode", "constant");
  const Shape& shape = args[0]->shape;
  if (mode == "constant") {
    Shape before;
    Shape after;
    for (size_t i = 0; i < shape.size(); ++i) {
      before.push_back(widths[2 * i]);
      after.push_back(widths[2 * i + 1]);
    }
    return {PadStage(builder, args[0], before, after, FloatAttr(attrs, "pad_value", 0))};
  }
  return {builder.Compute(
      "pad", result.tensor.dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        std::vector<Expr> index;
        for (size_t i = 0; i < axes.size(); ++i) {
          index.push_back(
              Mirror(axes[i] - loop::IntConst(widths[2 * i]), shape[i], mode == "reflect"));
        }
        return loop::Load(args[0], index);
      })};
}

}  // namespace

void RegisterPad(std::vector<Op>& table) {
  Op op = InjectiveOp(kName, 1,
                      {{"pad_width", AttrKind::kInts, true},
                       {"pad_value", AttrKind::kFloat},
                       {"pad_mode", AttrKind::kString}});
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
