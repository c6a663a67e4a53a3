// Equality of graphs by what they compute: node identity and variables' names do not
// matter; sharing does, except that of constants and global names.
#ifndef HONE_COMPILER_IR_STRUCTURAL_H_
#define HONE_COMPILER_IR_STRUCTURAL_H_

#include "compiler/ir/expr.h"

namespace hone::ir {

// Free variables equal only themselves. Inferred types are not compared: they follow from the rest.
bool StructuralEqual(const Expr& a, const Expr& b);
// Function by function; names of functions matter.
bool StructuralEqual(const Module& a, const Module& b);

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_STRUCTURAL_H_
