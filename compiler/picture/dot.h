#ifndef HONE_COMPILER_PICTURE_DOT_H_
#define HONE_COMPILER_PICTURE_DOT_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/picture/picture.h"

namespace hone::picture {

enum class ImageFormat { kDot, kSvg, kPdf, kPng };

// The picture in the DOT language, or laid out and drawn by Graphviz. Functions and kernels are
// clusters. kInternal: Graphviz failed. Thread-safe, but pictures are drawn one at a time, because
// Graphviz has global state.
absl::StatusOr<std::string> Draw(const Picture& picture, ImageFormat format);

}  // namespace hone::picture

#endif  // HONE_COMPILER_PICTURE_DOT_H_
