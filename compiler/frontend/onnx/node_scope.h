// The named tensors of a graph during its conversion, and of the graphs around it.
#ifndef HONE_COMPILER_FRONTEND_ONNX_NODE_SCOPE_H_
#define HONE_COMPILER_FRONTEND_ONNX_NODE_SCOPE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Not thread-safe. The scope around must outlive the one within.
class NodeScope {
 public:
  NodeScope(int opset, int64_t* generated_bytes_left)
      : opset_(opset), generated_bytes_left_(generated_bytes_left) {}
  explicit NodeScope(const NodeScope* around)
      : around_(around),
        opset_(around->opset_),
        generated_bytes_left_(around->generated_bytes_left_) {}

  // kInvalidArgument where this scope has the name already.
  absl::Status Define(const std::string& name, ir::Expr value);
  // Matrix products get it as it is, all else as a constant with its zeros.
  absl::Status DefineSparse(const std::string& name,
                            std::shared_ptr<const SparseInitializer> value);
  // nullptr where neither this scope nor one around has it.
  const ir::Expr* Find(const std::string& name) const;

  // Converts nodes in order; errors name the node.
  absl::Status Convert(const std::vector<OnnxNode>& nodes);
  // kInvalidArgument where nothing gives one.
  absl::StatusOr<std::vector<ir::Expr>> Outputs(const std::vector<std::string>& names) const;

  int opset() const { return opset_; }
  int64_t* generated_bytes_left() const { return generated_bytes_left_; }

 private:
  absl::Status Convert(const OnnxNode& node);
  // Puts operand `i` into the reader; kInvalidArgument where nothing has the name.
  absl::Status Bind(const std::string& name, size_t i, NodeReader* reader) const;
  std::shared_ptr<const SparseInitializer> FindSparse(const std::string& name) const;

  const NodeScope* around_ = nullptr;
  int opset_;
  int64_t* generated_bytes_left_;
  std::map<std::string, ir::Expr> values_;
  SparseInitializers sparse_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_NODE_SCOPE_H_
