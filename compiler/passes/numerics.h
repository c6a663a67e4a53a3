// The numerics of functions: how their results may be rounded (docs/decisions/0008-numerics.md).
#ifndef HONE_COMPILER_PASSES_NUMERICS_H_
#define HONE_COMPILER_PASSES_NUMERICS_H_

#include <optional>
#include <string>

#include "compiler/ir/expr.h"
#include "compiler/ops/lower.h"

namespace hone::passes {

// The attribute `numerics` of a function; nullopt if it has none.
std::optional<ops::Numerics> NumericsOf(const ir::Expr& function);

// The numerics of a function that another one is inlined into: the stricter of both. A part without
// numerics takes those of the whole.
ops::Numerics Stricter(ops::Numerics whole, std::optional<ops::Numerics> part);
// The function with these numerics; unchanged if it has them already. A function without the
// attribute has kDefault.
ir::Expr WithNumerics(const ir::Expr& function, ops::Numerics numerics);

// The module with `numerics` ("strict", "default", "fast") for all of its functions: main gets the
// attribute, and it is removed from all others.
ir::Module WithNumerics(const ir::Module& module, const std::string& numerics);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_NUMERICS_H_
