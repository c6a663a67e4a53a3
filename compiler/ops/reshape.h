// What other rooms ask of the operators in reshape.cc.
#ifndef HONE_COMPILER_OPS_RESHAPE_H_
#define HONE_COMPILER_OPS_RESHAPE_H_

#include <string_view>

namespace hone::ops {

// Whether the operator keeps the row-major order of its operand's elements and changes the shape
// alone: reshape, nn.batch_flatten, squeeze, expand_dims.
bool OnlyReshapes(std::string_view op);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_RESHAPE_H_
