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
  // Graph inputs of few bytes whose values are known: an import that asks for them by NeedsValue is
  // done again with these as constants (ImportWithValues).
  std::set<std::string> small_values;
  bool allows_bounds = false;  // see NodeReader::AllowBounds
};

// Not thread-safe. A scope must outlive the scopes within it.
class NodeScope {
 public:
  // The main graph of a model.
  NodeScope(int64_t opset, ImportState* state) : state_(state), opset_(static_cast<int>(opset)) {}
  // A graph within the scope `around`; `place` differs between the trips of a loop.
  explicit NodeScope(const NodeScope* around, const std::string& place = "")
      : around_(around),
        state_(around->state_),
        attrs_(around->attrs_),
        opset_(around->opset_),
        place_(around->place_ + place) {}
  // The body of a function that `call` calls with the attributes `attrs`; it sees no names of the
  // caller.
  NodeScope(const NodeScope& caller, const NodeReader& call, const OnnxFunction& function,
            const OnnxAttrs* attrs)
      : state_(caller.state_),
        attrs_(attrs),
        opset_(static_cast<int>(function.opset)),
        place_(caller.place_ + FirstResult(call.node()) + '/') {}

  // kInvalidArgument where this scope has the name already.
  absl::Status Define(const std::string& name, ir::Expr value);
  // Defines a sparse value. MatMul reads it as it is, other operators as a dense constant.
  absl::Status DefineSparse(const std::string& name,
                            std::shared_ptr<const SparseInitializer> value);
  // States that the value called `name` in this scope has the trait.
  void SetTrait(const std::string& name, Trait trait) { traits_.emplace(name, trait); }
  bool Has(const std::string& name, Trait trait) const;
  // States that the call of the function leaves out this optional input: nodes that read it do
  // without it.
  void LeaveOut(const std::string& name) { left_out_.insert(name); }
  // The value called `name`; nullptr if neither this scope nor one around has it.
  const ir::Expr* Find(const std::string& name) const;

  // Converts nodes in order; errors name the node.
  absl::Status Convert(const std::vector<OnnxNode>& nodes);
  // Converts one node; errors do not name it.
  absl::Status Convert(const OnnxNode& node);
  // The values called `names`; kInvalidArgument if one of them is not defined.
  absl::StatusOr<std::vector<ir::Expr>> Outputs(const std::vector<std::string>& names) const;

  int opset() const { return opset_; }
  const ImportState& state() const { return *state_; }
  // States whether the nodes that are converted next are in the body of a repeat.
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
