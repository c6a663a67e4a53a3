#ifndef HONE_COMPILER_PICTURE_TREE_H_
#define HONE_COMPILER_PICTURE_TREE_H_

#include <string>

#include "compiler/picture/picture.h"

namespace hone::picture {

// For a terminal: functions, kernels and operators as a tree in execution order, one line a node,
// operands by number. UTF-8.
std::string ToTree(const Picture& picture);

}  // namespace hone::picture

#endif  // HONE_COMPILER_PICTURE_TREE_H_
