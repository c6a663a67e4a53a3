// TensorScatter.
#include <fmt/format.h>

#include "compiler/frontend/onnx/attention.h"
#include "compiler/frontend/onnx/cache.h"
#include "compiler/frontend/onnx/converters.h"
#include "support/status.h"

namespace hone::frontend {

absl::StatusOr<ir::Expr> WrittenTo(const ir::Expr& cache, const ir::Expr& update,
                                   const ir::Expr& first, int64_t axis, bool circular) {
  Shape expected = ShapeOf(cache);
  const bool has_axis = axis >= 1 && axis < RankOf(cache) && RankOf(update) == RankOf(cache);
  const int64_t count = has_axis ? ShapeOf(update)[axis] : 0;
  const int64_t extent = has_axis ? expected[axis] : 0;
  if (has_axis) expected[axis] = count;
  if (!has_axis || ShapeOf(update) != expected || count > extent ||
      ShapeOf(first) != Shape{expected[0]}) {
    return absl::InvalidArgumentError(fmt::format(
        "an update of a cache along an axis behind the first, and a position for each sequence, "
        "were "
        "expected; found the cache {}, the update {}, the positions {} and axis {}",
        cache->type->ToString(), update->type->ToString(), first->type->ToString(), axis));
  }
  Formula f;
  const DataType dtype = DtypeOf(first);
  Shape along(RankOf(cache), 1);
  along[axis] = count;
  Shape each(RankOf(cache), 1);
  each[0] = expected[0];
  ir::Expr at =
      f.Add(f.Reshape(first, each), f.Reshape(f.Cast(ColumnNumbers(count), dtype), along));
  if (circular) {
    at = f.Call("floor_mod", {at, ScalarConstant(static_cast<double>(extent), dtype)});
  }
  at = f.Call("broadcast_to", {at}, {{"shape", expected}});
  return f.FinishOne(f.Call("scatter_elements", {cache, at, update},
                            {{"axis", axis}, {"reduction", std::string("none")}}));
}

namespace {

Results TensorScatter(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr cache, node.Arg(0, "past_cache"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr update, node.Arg(1, "update"));
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", -2));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given, RankOf(cache)));
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", "linear"));
  if (mode != "linear" && mode != "circular") {
    return absl::InvalidArgumentError("mode: linear or circular was expected, found " + mode);
  }
  HONE_RETURN_IF_ERROR(
      node.Generate(update->type->tensor.ElementCount() * static_cast<int64_t>(sizeof(int64_t))));
  const ir::Expr first =
      node.Has(2) ? node.args()[2] : ScalarConstant(0, DataType::kInt64, {ShapeOf(cache)[0]});
  return One(WrittenTo(cache, update, first, axis, mode == "circular"));
}

}  // namespace

void AddCacheConverters(ConverterTable& table) { table["TensorScatter"] = TensorScatter; }

}  // namespace hone::frontend
