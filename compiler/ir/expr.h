// The graph IR: functional, in the manner of Relay (Roesch et al., arXiv 1904.08368). Nodes are
// immutable, and a graph is a DAG of shared nodes. Sharing has a meaning: a node that is used twice
// is computed once.
#ifndef HONE_COMPILER_IR_EXPR_H_
#define HONE_COMPILER_IR_EXPR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/constant_data.h"
#include "runtime/data_type.h"
#include "runtime/layout.h"

namespace hone::ir {

struct TensorType {
  std::vector<int64_t> shape;  // empty: a scalar
  DataType dtype = DataType::kFloat32;
  bool operator==(const TensorType&) const = default;
  int64_t ElementCount() const;
  int64_t SizeBytes() const;     // row-major
  std::string ToString() const;  // "Tensor[(1, 3, 224, 224), float32]"; a scalar: "int64"
};

// A tensor, a tuple of types, or a function.
struct Type {
  bool is_tuple = false;
  TensorType tensor = {};
  // The types of a tuple's fields, or those of a function's parameters, followed by its result's.
  std::vector<Type> fields = {};
  bool is_function = false;
  bool operator==(const Type&) const = default;
  bool IsTensor() const { return !is_tuple && !is_function; }
  bool HasFunctions()
      const;  // whether it is a function, or a tuple with a function somewhere in it
  std::string ToString() const;  // "(int64, float32)", "fn (float32) -> float32"
};

// Attributes of calls and functions, by name. Printed and compared in the order of their names.
using AttrValue = std::variant<int64_t, double, bool, std::string, DataType, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>>;
using Attrs = std::map<std::string, AttrValue>;

enum class ExprKind {
  kVar,
  kConstant,
  kCall,
  kFunction,
  kGlobalVar,
  kTuple,
  kTupleGetItem,
  kLet,
  kIf
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

// One node type for all kinds: `kind` says which fields hold a value. Nodes are made by the
// functions below; type inference (compiler/passes/infer_type.h) gives a copy of a module with
// `type` filled.
struct ExprNode {
  ExprKind kind;
  // Null before type inference, except in a kVar and a kConstant, where it is always set. For a
  // kFunction it is the type of the result (ValueType gives that of the function itself); for a
  // kGlobalVar it stays null.
  std::shared_ptr<const Type> type = {};

  std::string name =
      {};  // kVar, kGlobalVar. kCall: the operator ("nn.conv2d"), empty for a function
  ConstantData data = {};  // kConstant
  Expr callee = {};        // kCall of a value that is a function; null for an operator
  std::vector<Expr> args =
      {};             // kCall, kTuple. kTupleGetItem: the tuple. kLet: var, value, body.
                      // kIf: condition, then, otherwise. kFunction: parameters, then the body last
  Attrs attrs = {};   // kCall, kFunction ("primitive": true marks a fused kernel)
  int64_t index = 0;  // kTupleGetItem
};

Expr Var(std::string name, Type type);
Expr TensorVar(std::string name, std::vector<int64_t> shape, DataType dtype);
Expr Constant(TensorType type, ConstantData data);
// Copies the bytes.
Expr ConstantFromBytes(TensorType type, const void* bytes);
Expr Call(std::string op, std::vector<Expr> args, Attrs attrs = {});
Expr CallFunction(Expr function, std::vector<Expr> args, Attrs attrs = {});
Expr Function(std::vector<Expr> params, Expr body, Attrs attrs = {});
Expr GlobalVar(std::string name);
Expr Tuple(std::vector<Expr> fields);
Expr TupleGetItem(Expr tuple, int64_t index);
Expr Let(Expr var, Expr value, Expr body);
Expr If(Expr condition, Expr then, Expr otherwise);
// The same node with another type, or with other attributes.
Expr WithType(const Expr& e, Type type);
Expr WithAttrs(const Expr& e, Attrs attrs);

inline bool IsCall(const Expr& e, std::string_view op) {
  return e->kind == ExprKind::kCall && !e->callee && e->name == op;
}
// These are for a kFunction only.
std::vector<Expr> Params(const ExprNode& function);
const Expr& Body(const ExprNode& function);
// The type of `e` as a value, which is a function type for a kFunction. `e` is typed and not a
// kGlobalVar.
Type ValueType(const ExprNode& e);

// Attribute `name`, or `fallback` where it is missing. Asserts the stored type.
template <typename T>
T GetAttr(const Attrs& attrs, const std::string& name, T fallback) {
  const auto it = attrs.find(name);
  return it == attrs.end() ? fallback : std::get<T>(it->second);
}

// Functions by name; "main" is the model. A value type: copies share nodes.
struct Module {
  std::map<std::string, Expr> functions;
};

// Operands before users, each node once; iterative, so deep graphs do not overflow the stack.
std::vector<Expr> PostOrder(const Expr& root);

// The same, but function literals below `root` are leaves: the nodes inside them are left out. For
// the body of a function these are the nodes that one call of the function may evaluate.
std::vector<Expr> PostOrderOutside(const Expr& root);

// Rebuilds the DAG below `root` bottom-up: `rewrite` gets each node with its operands already
// rewritten and returns the node to put in its place. Shared nodes are visited once. Iterative.
Expr Rewrite(const Expr& root, const std::function<Expr(const Expr& node)>& rewrite);

// The same, but function literals below `root` are not entered: `rewrite` gets them as they are.
Expr RewriteOutside(const Expr& root, const std::function<Expr(const Expr& node)>& rewrite);

// A copy of `node` with these operands and the same type; `node` itself if it has them already.
Expr WithOperands(const Expr& node, Expr callee, std::vector<Expr> args);

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_EXPR_H_
