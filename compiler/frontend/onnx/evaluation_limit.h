// Limits how much an import may compute.
#ifndef HONE_COMPILER_FRONTEND_ONNX_EVALUATION_LIMIT_H_
#define HONE_COMPILER_FRONTEND_ONNX_EVALUATION_LIMIT_H_

#include <cstddef>

#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Values that decide a shape are computed by the interpreter, anew for each node that asks: a small
// file may ask for hours of it. One of these stands for the time of an import; what the thread
// evaluates meanwhile is charged to it. Outside of one nothing is limited.
class EvaluationLimit {
 public:
  EvaluationLimit();
  ~EvaluationLimit();
  EvaluationLimit(const EvaluationLimit&) = delete;
  EvaluationLimit& operator=(const EvaluationLimit&) = delete;

  // Before the typed node is evaluated, as one of `together`, which make one nest. kUnimplemented
  // once the import has computed too much.
  static absl::Status Charge(const ir::ExprNode& node, size_t together = 1);

 private:
  double operations_left_ = 1 << 27;  // some seconds
  EvaluationLimit* const around_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_EVALUATION_LIMIT_H_
