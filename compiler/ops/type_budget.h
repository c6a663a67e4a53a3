// A bound on the types that type inference makes.
#ifndef HONE_COMPILER_OPS_TYPE_BUDGET_H_
#define HONE_COMPILER_OPS_TYPE_BUDGET_H_

#include <cstdint>

#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

// How large the types in one module may become. A tuple of a tuple of ... doubles with each line of
// text: without a limit, a page of it asks for more memory than there is. Not thread-safe.
class TypeBudget {
 public:
  // kInvalidArgument where `type` nests too deeply, or the tuples of all types together have too
  // many fields.
  absl::Status Charge(const ir::Type& type);

 private:
  int64_t fields_left_ = int64_t{1} << 18;
};

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_TYPE_BUDGET_H_
