// Advises where a model that cannot be imported whole can be cut, in the words of error messages.
#ifndef HONE_COMPILER_FRONTEND_CUT_ADVICE_H_
#define HONE_COMPILER_FRONTEND_CUT_ADVICE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// The names among these whose values (null: it has none) are tensors that are computed from inputs,
// each once and in their order. There are none where they are too many for a line.
std::vector<std::string> PlacesAmong(const std::vector<std::string>& names,
                                     absl::FunctionRef<ir::Expr(const std::string& name)> value);

// `status` with the flags behind it that import a model up to these values; as it is for none.
absl::Status WithCutAdvice(const absl::Status& status, const std::vector<std::string>& places);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_CUT_ADVICE_H_
