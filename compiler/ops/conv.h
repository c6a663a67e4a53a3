// The index arithmetic of convolutions, which their float and quantised forms share.
#ifndef HONE_COMPILER_OPS_CONV_H_
#define HONE_COMPILER_OPS_CONV_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/op.h"
#include "compiler/ops/window.h"

namespace hone::ops {

// The attributes that all convolutions have.
std::vector<AttrSpec> ConvAttrs();

// The shape of the result; args 0 and 1 are the data (N, C, ...) and the weight (output channels,
// input channels of a group, taps...).
absl::StatusOr<Shape> ConvResultShape(const std::string& op, int spatial,
                                      const std::vector<ir::Type>& args, const ir::Attrs& attrs);

// The number of multiplications and additions of a call.
double ConvFlops(const std::vector<ir::Type>& args, const ir::Type& result);

// The indices at which a convolution reads, for a call whose types were checked. `axes` are the
// indices of the result, `r` those of the sum: an input channel of the group, then the taps.
struct ConvIndices {
  ConvIndices(const std::string& op, const Shape& weight, const ir::Attrs& attrs);

  Window window;
  Shape reduce;  // extents of the axes of the sum
  int64_t groups, group_in, group_out;

  std::vector<loop::Expr> Data(const std::vector<loop::Expr>& axes,
                               const std::vector<loop::Expr>& r) const;  // into the padded data
  std::vector<loop::Expr> Weight(const std::vector<loop::Expr>& axes,
                                 const std::vector<loop::Expr>& r) const;
  // The padding before and after every axis of the data, N and C included.
  Shape Before() const;
  Shape After() const;
};

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_CONV_H_
