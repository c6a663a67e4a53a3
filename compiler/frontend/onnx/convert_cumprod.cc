// CumProd.
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// x moved by `distance` positions along the axis, away from its start or, `reverse`, from its end;
// ones where nothing is moved to.
ir::Expr Moved(Formula& f, const ir::Expr& x, int64_t axis, int64_t distance, bool reverse) {
  const int64_t extent = ShapeOf(x)[axis];
  Shape widths(2 * RankOf(x), 0);
  widths[2 * axis + (reverse ? 1 : 0)] = distance;
  const ir::Expr kept =
      reverse ? f.Slice(x, axis, distance, extent) : f.Slice(x, axis, 0, extent - distance);
  return f.Call("nn.pad", {kept}, {{"pad_width", widths}, {"pad_value", 1.0}});
}

// Products of 1, 2, 4, ... elements, each of two of half as many: as many steps as the extent has
// binary digits.
Results CumProd(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "x"));
  HONE_ASSIGN_OR_RETURN(const Shape given, node.ConstantInts(1, "axis"));
  HONE_ASSIGN_OR_RETURN(const int64_t exclusive, node.Int("exclusive", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t reverse, node.Int("reverse", 0));
  if (given.size() != 1) return absl::InvalidArgumentError("axis was expected to be one number");
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given[0], RankOf(data)));
  const int64_t extent = ShapeOf(data)[axis];
  if (data->type->tensor.ElementCount() == 0) return std::vector<ir::Expr>{data};
  Formula f;
  ir::Expr y = f.Wide(data);
  if (exclusive != 0) {
    y = extent == 1 ? f.Call("broadcast_to", {f.Number(1, y)}, {{"shape", ShapeOf(y)}})
                    : Moved(f, y, axis, 1, reverse != 0);
  }
  for (int64_t distance = 1; distance < extent; distance *= 2) {
    HONE_RETURN_IF_ERROR(f.status());
    y = f.Mul(y, Moved(f, y, axis, distance, reverse != 0));
  }
  return f.Finish({f.Cast(y, DtypeOf(data))});
}

}  // namespace

void AddCumProdConverters(ConverterTable& table) { table["CumProd"] = CumProd; }

}  // namespace hone::frontend
