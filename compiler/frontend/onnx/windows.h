// Pads, strides and dilations of ONNX's convolutions and pools as Hone's attributes.
#ifndef HONE_COMPILER_FRONTEND_ONNX_WINDOWS_H_
#define HONE_COMPILER_FRONTEND_ONNX_WINDOWS_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"

namespace hone::frontend {

// The number of axes besides batch and channels; kInvalidArgument unless `data` is of rank 3 to 5.
absl::StatusOr<int64_t> SpatialRank(const ir::Expr& data);

// The attributes strides, padding and dilation for a window of `taps` over the spatial axes of
// `data`; auto_pad is worked out into padding.
absl::StatusOr<ir::Attrs> WindowAttrs(NodeReader& node, const ir::Expr& data, const Shape& taps);

// The operands X and W of a convolution over one to three spatial axes, transposed or not, and the
// taps of W. The attribute kernel_shape must be the same, if the node has it.
struct ConvOperands {
  ir::Expr data;
  ir::Expr weight;
  Shape taps;
};
absl::StatusOr<ConvOperands> ReadConvOperands(NodeReader& node);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_WINDOWS_H_
