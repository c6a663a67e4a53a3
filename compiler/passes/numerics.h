// How the results of functions may round (docs/decisions/0008-numerics.md).
#ifndef HONE_COMPILER_PASSES_NUMERICS_H_
#define HONE_COMPILER_PASSES_NUMERICS_H_

#include <optional>
#include <string>

#include "compiler/ir/expr.h"
#include "compiler/ops/lower.h"

namespace hone::passes {

// What the attribute `numerics` of a function says; nullopt where it has none.
std::optional<ops::Numerics> NumericsOf(const ir::Expr& function);

// Those of a function that another becomes part of: the stricter ones. A part that says nothing is
// as the whole.
ops::Numerics Stricter(ops::Numerics whole, std::optional<ops::Numerics> part);
// The function with these numerics; unchanged where it has them already (kDefault: by saying
// nothing).
ir::Expr WithNumerics(const ir::Expr& function, ops::Numerics numerics);

// The module with `numerics` ("strict", "default", "fast") for all of it, whatever its functions
// said: main has the attribute, no other function has.
ir::Module WithNumerics(const ir::Module& module, const std::string& numerics);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_NUMERICS_H_
