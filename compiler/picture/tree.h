#ifndef HONE_COMPILER_PICTURE_TREE_H_
#define HONE_COMPILER_PICTURE_TREE_H_

#include <string>

#include "compiler/picture/picture.h"

namespace hone::picture {

// The picture as text for a terminal, in UTF-8: functions, kernels and operators are a tree in
// execution order, with a line for each node. Operands are numbers of nodes, or their names.
std::string ToTree(const Picture& picture);

}  // namespace hone::picture

#endif  // HONE_COMPILER_PICTURE_TREE_H_
