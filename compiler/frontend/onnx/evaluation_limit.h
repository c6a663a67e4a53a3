// Limits how much an import may compute.
#ifndef HONE_COMPILER_FRONTEND_ONNX_EVALUATION_LIMIT_H_
#define HONE_COMPILER_FRONTEND_ONNX_EVALUATION_LIMIT_H_

#include <cstddef>

#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Values that decide a shape are computed by the interpreter, anew for each node that asks, so that
// a small file may ask for hours of computing. An object of this class lives as long as an import;
// what its thread evaluates meanwhile is charged to it. While a thread has no such object, it is
// not limited.
class EvaluationLimit {
 public:
  EvaluationLimit();
  ~EvaluationLimit();
  EvaluationLimit(const EvaluationLimit&) = delete;
  EvaluationLimit& operator=(const EvaluationLimit&) = delete;

  // Called before the typed node is evaluated, as one of `together` nodes of one nest.
  // kUnimplemented once the import has computed too much.
  static absl::Status Charge(const ir::ExprNode& node, size_t together = 1);

 private:
  double operations_left_ = 1 << 27;  // some seconds
  EvaluationLimit* const around_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_EVALUATION_LIMIT_H_
