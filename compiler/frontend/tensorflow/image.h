// Images and windows over them, as convolutions and pools read them.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_IMAGE_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_IMAGE_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/tensorflow/node_reader.h"

namespace hone::frontend::tf {

// An operand whose layout is the attribute data_format; `data` is always (N, C, H, W).
struct Image {
  ir::Expr data;
  bool channels_last = true;  // in data_format; results are then Values with channels_first
  // The entries for H and W of an attribute that has one for each of the four axes. kUnimplemented
  // if that for N or C is not 1, kInvalidArgument if one is not positive.
  absl::StatusOr<Shape> SpatialOf(NodeReader& node, const std::string& attr,
                                  const Shape& fallback) const;
};
absl::StatusOr<Image> ReadImage(NodeReader& node, size_t operand = 0);

// The attributes strides, dilation and padding of an operator of Hone with a window of `taps`. If
// the padding SAME is odd, it has one element more after the data than before them.
absl::StatusOr<ir::Attrs> WindowAttrs(NodeReader& node, const Image& image, const Shape& taps);

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_IMAGE_H_
