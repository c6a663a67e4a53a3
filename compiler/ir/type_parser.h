// Parses the names and types in graph text, as the base of the whole parser (parser.cc).
#ifndef HONE_COMPILER_IR_TYPE_PARSER_H_
#define HONE_COMPILER_IR_TYPE_PARSER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/scanner.h"

namespace hone::ir {

// Reads from where the scanner stands. Not thread-safe.
class TypeParser {
 public:
  explicit TypeParser(std::string_view text) : scan_(text) {}

  absl::StatusOr<Type> ParseType();

 protected:
  static constexpr int kMaxNesting = 200;

  absl::StatusOr<std::string> NameOrString(std::string_view what);
  // Fails if types or expressions nest too deeply, since each level takes stack. The caller leaves
  // the level by --nesting_.
  absl::Status Enter();

  Scanner scan_;
  int nesting_ = 0;

 private:
  absl::StatusOr<Type> TypeInside();
  absl::StatusOr<Type> TupleType();
  // After 'fn'.
  absl::StatusOr<Type> FunctionType();
  absl::StatusOr<Type> TensorTypeRest();
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_TYPE_PARSER_H_
