#ifndef HONE_COMPILER_PICTURE_DOT_H_
#define HONE_COMPILER_PICTURE_DOT_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/picture/picture.h"

namespace hone::picture {

enum class ImageFormat { kDot, kSvg, kPdf, kPng };

// The picture as Graphviz' text, or laid out and drawn by it: one cluster a function, one a kernel.
// kInternal: Graphviz could not. Thread-safe; one at a time, as Graphviz has global state.
absl::StatusOr<std::string> Draw(const Picture& picture, ImageFormat format);

}  // namespace hone::picture

#endif  // HONE_COMPILER_PICTURE_DOT_H_
