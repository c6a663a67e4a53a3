// What a converter works with: one node, its operands and its attributes.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_NODE_READER_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_NODE_READER_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensorflow/graph.h"
#include "compiler/frontend/tensorflow/layout.h"

namespace hone::frontend::tf {

// Remembers which attributes were asked for. An attribute that no converter reads is an error,
// unless it is a type, which the operands tell, too, or its name begins with '_'. Not thread-safe.
class NodeReader {
 public:
  NodeReader(const Node& node, std::vector<Value> args, Layouts& layouts)
      : node_(node), args_(std::move(args)), layouts_(layouts) {}

  const Node& node() const { return node_; }
  Layouts& layouts() { return layouts_; }

  // Operands; kInvalidArgument names one that is missing.
  size_t size() const { return args_.size(); }
  const std::vector<Value>& args() const { return args_; }
  absl::StatusOr<Value> Arg(size_t i, std::string_view what) const;
  // Operand `i` with its axes as TensorFlow has them.
  absl::StatusOr<ir::Expr> Given(size_t i, std::string_view what);
  // Integers known at compile time; kUnimplemented where graph inputs go into them.
  absl::StatusOr<Shape> Ints(size_t i, std::string_view what);
  // One number known at compile time, as an attribute holds it.
  absl::StatusOr<ir::AttrValue> Number(size_t i, std::string_view what);
  // One integer known at compile time.
  absl::StatusOr<int64_t> OneInt(size_t i, std::string_view what);
  // One integer known at compile time, an axis of -rank .. rank-1, as 0 .. rank-1.
  absl::StatusOr<int64_t> Axis(size_t i, int64_t rank);

  // Attributes; kInvalidArgument if one is of another kind.
  absl::StatusOr<int64_t> IntAttr(const std::string& name, int64_t fallback);
  absl::StatusOr<double> FloatAttr(const std::string& name, double fallback);
  absl::StatusOr<bool> BoolAttr(const std::string& name, bool fallback);
  absl::StatusOr<std::string> StringAttr(const std::string& name, const std::string& fallback);
  absl::StatusOr<Shape> IntsAttr(const std::string& name, const Shape& fallback = {});
  absl::StatusOr<DataType> TypeAttrOf(const std::string& name, int fallback);
  const Attr* Raw(const std::string& name);

  // kUnimplemented names an attribute that no one has read.
  absl::Status CheckAllRead() const;

 private:
  // Operand `i`, with the cost of evaluating it charged.
  absl::StatusOr<ir::Expr> Charged(size_t i, std::string_view what);
  template <typename T>
  absl::StatusOr<T> Get(const std::string& name, T fallback, std::string_view kind);

  const Node& node_;
  std::vector<Value> args_;
  Layouts& layouts_;
  std::set<std::string> read_;
};

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_NODE_READER_H_
