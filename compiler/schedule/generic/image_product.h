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
  // where k goes through the window and, innermost, through the channels. A stage that fills a
  // factor has the patches, which no memory holds; the filters are laid out before the first run.
  CopiedSums sums;
  std::vector<loop::Buffer> images;  // inputs and outputs that are such matrices there
};

// nullopt where the sums are no convolution of images [n, h, w, c] by constant filters, or where
// threads that copy 16 bytes of a row would copy of several pixels.
std::optional<ImageProduct> ViewImageProduct(const CopiedSums& copied);

// `nest`, which a schedule made of `sums`, with the images that its inputs and outputs are.
loop::Nest WithImages(const loop::Nest& nest, const std::vector<loop::Buffer>& images);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_IMAGE_PRODUCT_H_
