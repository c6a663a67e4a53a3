// nn.pad: pad_width = [before axis 0, after axis 0, before axis 1, ...]; pad_mode "constant" (with
// pad_value), "edge", "reflect" (over and over where the padding is longer than the data) or
// "wrap".
#include <fmt/format.h>

#include <algorithm>

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
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap") {
    return AttrError(kName, "pad_mode", "constant, edge, reflect or wrap", mode);
  }
  for (size_t i = 0; i < widths.size(); ++i) {
    const bool reads_nothing = data.shape[i / 2] == 0 && mode != "constant" && widths[i] > 0;
    if (widths[i] < 0 || widths[i] > kMaxWidth || reads_nothing) {
      return AttrError(kName, "pad_width",
                       fmt::format("widths from 0 to {}", reads_nothing ? 0 : kMaxWidth),
                       fmt::format("{} on axis {} of {}", widths[i], i / 2, data.ToString()));
    }
  }
  for (size_t i = 0; i < widths.size(); ++i) data.shape[i / 2] += widths[i];
  return TensorOf(std::move(data.shape), data.dtype);
}

// The position in the data that a padded position stands for; `at` is less than `reach` beyond it.
Expr Source(const std::string& mode, const Expr& at, int64_t extent, int64_t reach) {
  const Expr last = loop::IntConst(extent - 1);
  if (mode == "edge" || extent <= 1) return Min(Max(at, loop::IntConst(0)), last);
  if (mode == "wrap") return FloorMod(at, loop::IntConst(extent));
  const Expr period = loop::IntConst(2 * (extent - 1));
  const Expr folded = reach > extent - 1
                          ? FloorMod(at, period)
                          : loop::Select(Lt(at, loop::IntConst(0)), loop::IntConst(0) - at, at);
  return loop::Select(Lt(last, folded), period - folded, folded);
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
    return {PadStage(builder, args[0], before, after,
                     NumberAttr(attrs, "pad_value", 0, args[0]->dtype))};
  }
  return {builder.Compute(
      "pad", result.tensor.dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        std::vector<Expr> index;
        for (size_t i = 0; i < axes.size(); ++i) {
          const int64_t reach = std::max(widths[2 * i], widths[2 * i + 1]);
          index.push_back(
              reach == 0 ? axes[i]
                         : Source(mode, axes[i] - loop::IntConst(widths[2 * i]), shape[i], reach));
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
