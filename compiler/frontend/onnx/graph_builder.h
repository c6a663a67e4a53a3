// What a converter works with: one ONNX node, its operands as typed graph IR, and means to add
// calls.
#ifndef HONE_COMPILER_FRONTEND_ONNX_GRAPH_BUILDER_H_
#define HONE_COMPILER_FRONTEND_ONNX_GRAPH_BUILDER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/allowance.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/frontend/onnx/repeat_builder.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

using Shape = std::vector<int64_t>;

// What the type of a value does not say: that its bytes hold 4-bit integers (four_bit.h), or that
// its last rows or columns may be filling only (bounded.h).
enum class Trait { kFourBit, kBounded };
inline constexpr Trait kTraits[] = {Trait::kFourBit, Trait::kBounded};

// A call with its type. Where all operands are integer constants of few elements - the shape
// computations that exporters leave in models - it is evaluated at once, so that a Reshape may
// depend on it.
absl::StatusOr<ir::Expr> Emit(const std::string& op, std::vector<ir::Expr> args,
                              ir::Attrs attrs = {});

const Shape& ShapeOf(const ir::Expr& e);
DataType DtypeOf(const ir::Expr& e);
inline int64_t RankOf(const ir::Expr& e) { return static_cast<int64_t>(ShapeOf(e).size()); }
ir::Expr IntsConstant(const std::vector<int64_t>& values);  // rank 1, int64
// A constant of rank 0: the number of type `dtype` that is nearest to `value`.
ir::Expr IntegerConstant(int64_t value, DataType dtype);
ir::Expr ScalarConstant(double value, DataType dtype, Shape shape = {});  // every element `value`

// kUnimplemented with this message, because the value of `e` is not known at import. If `e` is
// computed from inputs of the graph, the message goes on with their names, and the status carries
// them for InputsNeeded.
absl::Status NeedsValue(const ir::Expr& e, const std::string& message);
// The names of inputs that a status of NeedsValue carries; none for other statuses.
std::vector<std::string> InputsNeeded(const absl::Status& status);
// The name of the node's first result, which is unique in its graph; empty if it has no result.
std::string FirstResult(const OnnxNode& node);
// `status` with another message; its code and InputsNeeded stay.
absl::Status Reworded(const absl::Status& status, const std::string& message);
// `status` with a prefix and a colon before its message.
absl::Status Prefixed(const std::string& prefix, const absl::Status& status);

// One node during its conversion. Remembers which attributes were asked for: one that no converter
// reads is an error, never ignored. Not thread-safe.
class NodeReader {
 public:
  NodeReader(const OnnxNode& node, int opset, std::vector<ir::Expr> args, Allowance* allowance,
             Repeats* repeats = nullptr)
      : node_(node),
        opset_(opset),
        args_(std::move(args)),
        allowance_(allowance),
        repeats_(repeats) {}

  // A reader of `node`, which stands for a part of this node: it has operands of its own, and
  // shares this reader's allowance and repeats. `node` must outlive it.
  NodeReader WithOperands(const OnnxNode& node, int opset, std::vector<ir::Expr> args) const {
    NodeReader reader(node, opset, std::move(args), allowance_, repeats_);
    reader.SetPlace(place_);
    return reader;
  }

  const OnnxNode& node() const { return node_; }
  int opset() const { return opset_; }
  // Where the converter puts the bodies of repeats that it makes; null if it must make none.
  Repeats* repeats() const { return InRepeat() ? nullptr : repeats_; }
  // Whether the node belongs to the body of a repeat, which is the same in all trips.
  bool InRepeat() const { return repeats_ != nullptr && repeats_->inside; }

  void Bind(size_t i, ir::Expr value) { args_[i] = std::move(value); }
  // Makes a sparse initializer operand `i`. MatMul reads it as it is (Sparse). For all other
  // operators it becomes a dense constant, which is charged to the model's allowance.
  absl::Status BindSparse(size_t i, std::shared_ptr<const SparseInitializer> value);
  // Makes the sparse operand `i` a dense constant in the same way, for a MatMul that cannot use it.
  absl::Status Densify(size_t i);
  // Operand `i` if it is sparse, else nullptr.
  const SparseInitializer* Sparse(size_t i) const;

  // Traits of operand `i`, and those that the converter gives to a result.
  void SetTrait(size_t i, Trait trait) { traits_.emplace(i, trait); }
  bool Has(size_t i, Trait trait) const { return traits_.contains({i, trait}); }
  void GiveTrait(size_t result, Trait trait) { given_.emplace(result, trait); }
  bool Gives(size_t result, Trait trait) const { return given_.contains({result, trait}); }

  // Whether a result whose shape depends on data of a run may have its largest shape (bounded.h).
  void AllowBounds(bool allowed) { allows_bounds_ = allowed; }
  bool allows_bounds() const { return allows_bounds_; }

  // A text that differs between the calls of a function, and the trips of a loop, that the node is
  // converted for.
  void SetPlace(std::string place) { place_ = std::move(place); }
  const std::string& place() const { return place_; }

  // Operands. An optional one left out is null.
  size_t size() const { return args_.size(); }
  bool Has(size_t i) const { return i < args_.size() && args_[i]; }
  absl::StatusOr<ir::Expr> Arg(size_t i, std::string_view what) const;
  ir::Expr ArgOrNull(size_t i) const { return Has(i) ? args_[i] : nullptr; }
  const std::vector<ir::Expr>& args() const { return args_; }
  // Operand `i` as a kConstant; one that is computed from constants alone is evaluated. The error
  // is NeedsValue if it is computed from graph inputs. `what` says in messages what the operand is.
  absl::StatusOr<ir::Expr> Constant(size_t i, std::string_view what) const;
  // The same as integers, or as one number.
  absl::StatusOr<std::vector<int64_t>> ConstantInts(size_t i, std::string_view what) const;
  absl::StatusOr<double> ConstantScalar(size_t i, std::string_view what) const;

  // Attributes; kInvalidArgument if one is of another kind.
  bool HasAttr(const std::string& name);
  absl::StatusOr<int64_t> Int(const std::string& name, int64_t fallback);
  absl::StatusOr<double> Float(const std::string& name, double fallback);
  absl::StatusOr<std::string> String(const std::string& name, const std::string& fallback);
  absl::StatusOr<std::vector<int64_t>> Ints(const std::string& name,
                                            std::vector<int64_t> fallback = {});
  // Without the attribute, Floats gives none, and Tensor gives kInvalidArgument.
  absl::StatusOr<std::vector<float>> Floats(const std::string& name);
  absl::StatusOr<ir::Expr> Tensor(const std::string& name);
  const OnnxAttr* Raw(const std::string& name);

  // A list that moved from an attribute to operand `i` in a later opset; nullopt if the node has
  // neither.
  absl::StatusOr<std::optional<std::vector<int64_t>>> IntsAttrOrArg(const std::string& name,
                                                                    size_t i);

  // Charges constants made out of nothing (ConstantOfShape) to the model's allowance, so that a
  // small file cannot ask for a machine's memory.
  absl::Status Generate(int64_t bytes);
  // Charges the nodes that unrolling makes to the same allowance, as if each were 8 KiB.
  absl::Status Unroll(int64_t nodes);
  // Returns what `attempt` does, a StatusOr. If that is an error, what was charged meanwhile is
  // given back to the allowance (RefundTo).
  template <typename Attempt>
  auto Try(Attempt attempt) {
    const int64_t bytes_before = allowance_->bytes_left();
    auto result = attempt();
    if (!result.ok()) allowance_->RefundTo(bytes_before);
    return result;
  }

  // kUnimplemented names an attribute that no one has read.
  absl::Status CheckAllRead() const;

 private:
  template <typename T>
  absl::StatusOr<T> Get(const std::string& name, T fallback, std::string_view kind);

  const OnnxNode& node_;
  int opset_;
  std::vector<ir::Expr> args_;
  std::map<size_t, std::shared_ptr<const SparseInitializer>> sparse_;
  Allowance* allowance_;
  Repeats* repeats_;
  std::set<std::pair<size_t, Trait>> traits_;
  std::set<std::pair<size_t, Trait>> given_;
  bool allows_bounds_ = false;
  std::string place_;
  std::set<std::string> read_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_GRAPH_BUILDER_H_
