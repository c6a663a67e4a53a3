// The named tensors of a graph during its conversion, and of the graphs around it.
#ifndef HONE_COMPILER_FRONTEND_ONNX_NODE_SCOPE_H_
#define HONE_COMPILER_FRONTEND_ONNX_NODE_SCOPE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/allowance.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// What all scopes of an import share.
struct ImportState {
  const OnnxFunctions* functions = nullptr;
  Allowance allowance;
  Repeats repeats = {};
  // Graph inputs of few elements whose values are at hand: an import that says that it needs them
  // is made again with these as constants.
  std::set<std::string> small_values;
  bool allows_bounds = false;  // as NodeReader has it
};

// Not thread-safe. The scope around must outlive the one within.
class NodeScope {
 public:
  // The main graph of a model.
  NodeScope(int64_t opset, ImportState* state) : state_(state), opset_(static_cast<int>(opset)) {}
  // A graph within `around`; `place` tells it from itself in other trips of a loop.
  explicit NodeScope(const NodeScope* around, const std::string& place = "")
      : around_(around),
        state_(around->state_),
        attrs_(around->attrs_),
        opset_(around->opset_),
        place_(around->place_ + place) {}
  // The body of a function that `call` calls with these attributes: it sees no name of the
  // caller's.
  NodeScope(const NodeScope& caller, const NodeReader& call, const OnnxFunction& function,
            const OnnxAttrs* attrs)
      : state_(caller.state_),
        attrs_(attrs),
        opset_(static_cast<int>(function.opset)),
        place_(caller.place_ + FirstResult(call.node()) + '/') {}

  // kInvalidArgument where this scope has the name already.
  absl::Status Define(const std::string& name, ir::Expr value);
  // Matrix products get it as it is, all else as a constant with its zeros.
  absl::Status DefineSparse(const std::string& name,
                            std::shared_ptr<const SparseInitializer> value);
  // What has this name here is that.
  void SetTrait(const std::string& name, Trait trait) { traits_.emplace(name, trait); }
  bool Has(const std::string& name, Trait trait) const;
  // An optional input of a function that its call leaves out: nodes that read it do without it.
  void LeaveOut(const std::string& name) { left_out_.insert(name); }
  // nullptr where neither this scope nor one around has it.
  const ir::Expr* Find(const std::string& name) const;

  // Converts nodes in order; errors name the node.
  absl::Status Convert(const std::vector<OnnxNode>& nodes);
  // One of them; the error does not say which.
  absl::Status Convert(const OnnxNode& node);
  // kInvalidArgument where nothing gives one.
  absl::StatusOr<std::vector<ir::Expr>> Outputs(const std::vector<std::string>& names) const;

  int opset() const { return opset_; }
  const ImportState& state() const { return *state_; }
  // While a body is converted that is repeated.
  void SetInRepeat(bool inside) const { state_->repeats.inside = inside; }

 private:
  absl::Status ConvertNode(const OnnxNode& node);  // without references to attributes
  absl::StatusOr<std::vector<ir::Expr>> ResultsOf(NodeReader& node) const;
  // Puts operand `i` into the reader; kInvalidArgument where nothing has the name.
  absl::Status Bind(const std::string& name, size_t i, NodeReader* reader) const;
  std::shared_ptr<const SparseInitializer> FindSparse(const std::string& name) const;

  bool IsLeftOut(const std::string& name) const;

  const NodeScope* around_ = nullptr;
  ImportState* state_;
  const OnnxAttrs* attrs_ = nullptr;  // those of the function; null in the main graph
  int opset_;
  std::map<std::string, ir::Expr> values_;
  SparseInitializers sparse_;
  std::set<std::string> left_out_;
  std::set<std::pair<std::string, Trait>> traits_;
  std::string place_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_NODE_SCOPE_H_
