// Reads the text form of nests; docs/loop-nests.md has the grammar.
#ifndef HONE_COMPILER_LOOP_PARSER_H_
#define HONE_COMPILER_LOOP_PARSER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

// The inverse of ToText. kInvalidArgument says line and column, what was expected and what was
// found. Nesting is bounded, so that no text overflows the stack.
absl::StatusOr<Nest> ParseNest(std::string_view text);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_PARSER_H_
