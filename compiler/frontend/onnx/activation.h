// The activation functions that ONNX's recurrent operators name.
#ifndef HONE_COMPILER_FRONTEND_ONNX_ACTIVATION_H_
#define HONE_COMPILER_FRONTEND_ONNX_ACTIVATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"

namespace hone::frontend {

struct Activation {
  std::string name;  // lower case
  double alpha = 0;
  double beta = 0;

  absl::StatusOr<ir::Expr> Apply(const ir::Expr& x) const;
};

// The attributes activations, activation_alpha and activation_beta; `defaults` are the names for
// one direction. kInvalidArgument for unknown names and a wrong number of them.
absl::StatusOr<std::vector<Activation>> ReadActivations(NodeReader& node,
                                                        const std::vector<std::string>& defaults,
                                                        int64_t directions);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_ACTIVATION_H_
