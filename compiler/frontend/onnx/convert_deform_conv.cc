// DeformConv: the elements that its taps read, gathered, and a matrix product with its weights.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/windows.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// `columns` (N, height, width, C, taps...) with `weight` (outputs, C of a group, taps...).
ir::Expr Product(Formula& f, const ir::Expr& columns, const ir::Expr& weight, int64_t groups) {
  const Shape& from = ShapeOf(columns);
  const int64_t positions = from[0] * from[1] * from[2];
  const int64_t outputs = ShapeOf(weight)[0];
  const int64_t terms = from[3] * from[4] * from[5] / groups;
  const ir::Expr rows = f.Reshape(columns, {positions, groups, terms});
  const ir::Expr product =
      f.Call("nn.batch_matmul",
             {f.Transpose(rows, {1, 0, 2}), f.Reshape(weight, {groups, outputs / groups, terms})});
  const ir::Expr parted = f.Reshape(product, {groups, from[0], from[1], from[2], outputs / groups});
  return f.Reshape(f.Transpose(parted, {1, 0, 4, 2, 3}), {from[0], outputs, from[1], from[2]});
}

Results DeformConv(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ConvOperands operands, ReadConvOperands(node));
  const auto& [data, weight, taps] = operands;
  HONE_ASSIGN_OR_RETURN(const ir::Expr offset, node.Arg(2, "offset"));
  HONE_ASSIGN_OR_RETURN(const int64_t groups, node.Int("group", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t offset_groups, node.Int("offset_group", 1));
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, data, taps));
  if (taps.size() != 2) {
    return absl::UnimplementedError("Hone has deformable convolutions over two axes");
  }
  const int64_t channels = ShapeOf(data)[1];
  if (groups < 1 || channels % groups != 0 || ShapeOf(weight)[1] != channels / groups ||
      ShapeOf(weight)[0] % groups != 0) {
    return absl::InvalidArgumentError(
        fmt::format("weights for {} channels in {} groups were expected, found {}", channels,
                    groups, weight->type->ToString()));
  }
  attrs["kernel_size"] = taps;
  attrs["groups"] = offset_groups;
  std::vector<ir::Expr> read = {data, offset};
  if (node.Has(4)) read.push_back(node.args()[4]);
  Formula f;
  const ir::Expr columns = f.Call("nn.deformable_columns", std::move(read), std::move(attrs));
  if (!columns) return f.status();
  HONE_RETURN_IF_ERROR(TensorBytes(ShapeOf(columns), DtypeOf(columns)).status());
  ir::Expr result = Product(f, columns, weight, groups);
  if (node.Has(3)) {
    result = f.Call("nn.bias_add", {result, node.args()[3]}, {{"axis", int64_t{1}}});
  }
  return f.Finish({result});
}

}  // namespace

void AddDeformConvConverters(ConverterTable& table) { table["DeformConv"] = DeformConv; }

}  // namespace hone::frontend
