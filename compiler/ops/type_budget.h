// A bound on the size of the types that type inference makes.
#ifndef HONE_COMPILER_OPS_TYPE_BUDGET_H_
#define HONE_COMPILER_OPS_TYPE_BUDGET_H_

#include <cstdint>

#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

// Limits how large the types in one module may become. With tuples of tuples a type can double with
// each line of text, so without a limit a page of text could need more memory than there is. Not
// thread-safe.
class TypeBudget {
 public:
  // kInvalidArgument if `type` nests too deeply, or if the tuples of all types so far have too many
  // fields together.
  absl::Status Charge(const ir::Type& type);

 private:
  int64_t fields_left_ = int64_t{1} << 18;
};

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_TYPE_BUDGET_H_
