// Compares graphs by what they compute. Node identity and the names of variables do not matter;
// sharing does, except the sharing of constants and global names.
#ifndef HONE_COMPILER_IR_STRUCTURAL_H_
#define HONE_COMPILER_IR_STRUCTURAL_H_

#include "compiler/ir/expr.h"

namespace hone::ir {

// Free variables equal only themselves. Inferred types are not compared: they follow from the rest.
bool StructuralEqual(const Expr& a, const Expr& b);
// Compares modules function by function; the names of functions matter.
bool StructuralEqual(const Module& a, const Module& b);

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_STRUCTURAL_H_
