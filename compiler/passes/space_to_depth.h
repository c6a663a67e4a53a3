// Gives convolutions of few channels, with which networks of images begin, enough of them for
// tensor cores.
#ifndef HONE_COMPILER_PASSES_SPACE_TO_DEPTH_H_
#define HONE_COMPILER_PASSES_SPACE_TO_DEPTH_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// A convolution of 16-bit images of at most four channels, whose window moves by two pixels each
// way, becomes one of images of half the height and width, whose 16 channels are those of two by
// two pixels, four each: those that the image has not are zeros. Its window moves by one, and its
// filters have zeros where they had no taps. Filters of which FoldConstant would make no constants
// in squares stay. Only targets whose tensor cores take the type gain from it; under strict
// numerics nothing is changed, for a zero times an infinity is a new NaN.
absl::StatusOr<ir::Module> SpaceToDepth(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SPACE_TO_DEPTH_H_
