// Convolutions of images whose channels come last, as products of matrices (implicit GEMM): a row
// is what one pixel of the result sums, and is put together where a block copies it.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_IMAGE_PRODUCT_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_IMAGE_PRODUCT_H_

#include <optional>
#include <vector>

#include "compiler/loop/stmt.h"
#include "compiler/schedule/generic/copied_sums.h"

namespace hone::schedule {

// A value type.
struct ImageProduct {
  // The kernel whose images [n, h, w, c] are matrices [n * h * w, c]. Its main sums are
  //   conv[r, o] = sum over k of patches[r, k] * filters[o, k]
  // where k goes through the window and, innermost, through the channels. The patches are a stage
  // that is computed where blocks copy factors, so that no memory holds them; the filters are laid
  // out before the first run.
  CopiedSums sums;
  std::vector<loop::Buffer> images;  // inputs and outputs that are such matrices there
};

// nullopt where the sums are no convolution of images [n, h, w, c] by constant filters, or where 16
// bytes of a row of patches, which a thread copies at once, could be of two pixels.
std::optional<ImageProduct> ViewImageProduct(const CopiedSums& copied);

// `nest`, which a schedule made of ImageProduct::sums, with images for inputs and outputs again.
// `images` are ImageProduct::images.
loop::Nest WithImages(const loop::Nest& nest, const std::vector<loop::Buffer>& images);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_IMAGE_PRODUCT_H_
