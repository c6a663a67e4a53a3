// Reads the text form of graph IR (printer.h writes it). Safe on hostile text: nesting and sizes
// are bounded, nothing is allocated that the text does not itself hold.
#ifndef HONE_COMPILER_IR_PARSER_H_
#define HONE_COMPILER_IR_PARSER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ir {

// kInvalidArgument: "LINE:COLUMN: expected ..., found ...". Types of calls are not inferred; a
// function's annotated result type is kept as the type of the function, for InferTypes to check.
absl::StatusOr<Module> ParseModule(std::string_view text);

// A function literal in the form that workloads use: parameters may be marked `const`, and words
// such as accumulate=float32 follow the body.
struct FunctionText {
  Expr function;
  std::vector<bool> const_params;
  std::map<std::string, std::string> words;  // for instance "accumulate" -> "float32"
};
absl::StatusOr<FunctionText> ParseFunctionText(std::string_view text);

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_PARSER_H_
