// Advises where a model that cannot be imported whole can be cut, in the words of error messages.
#ifndef HONE_COMPILER_FRONTEND_CUT_ADVICE_H_
#define HONE_COMPILER_FRONTEND_CUT_ADVICE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Those of `names` whose values are tensors that are computed from inputs, each once and in the
// order of `names`. `value` gives the value of a name, or null if it has none. Empty if there are
// too many for a line.
std::vector<std::string> PlacesAmong(const std::vector<std::string>& names,
                                     absl::FunctionRef<ir::Expr(const std::string& name)> value);

// Adds to the message of `status` the flags that import the model up to `places`. `status` itself
// if there are no places.
absl::Status WithCutAdvice(const absl::Status& status, const std::vector<std::string>& places);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_CUT_ADVICE_H_
