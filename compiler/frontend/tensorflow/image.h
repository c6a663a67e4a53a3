// Images and windows over them, as convolutions and pools read them.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_IMAGE_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_IMAGE_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/tensorflow/node_reader.h"

namespace hone::frontend::tf {

// An operand by the attribute data_format, always as (N, C, H, W).
struct Image {
  ir::Expr data;
  bool channels_last = true;  // in TensorFlow; what comes of it is a Value with channels_first
  // The entries for H and W of an attribute over four axes. kUnimplemented where one for N or C is
  // not 1, kInvalidArgument for anything but positive numbers.
  absl::StatusOr<Shape> SpatialOf(NodeReader& node, const std::string& attr,
                                  const Shape& fallback) const;
};
absl::StatusOr<Image> ReadImage(NodeReader& node, size_t operand = 0);

// The attributes strides, dilation and padding of Hone's windows for one of `taps`. SAME has the
// odd pad after the data.
absl::StatusOr<ir::Attrs> WindowAttrs(NodeReader& node, const Image& image, const Shape& taps);

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_IMAGE_H_
