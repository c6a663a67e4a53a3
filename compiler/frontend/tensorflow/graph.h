// A TensorFlow graph in our own types: what the converters see, free of protobuf.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_GRAPH_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_GRAPH_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/allowance.h"
#include "compiler/ir/expr.h"

namespace hone::frontend::tf {

// TensorFlow's number of an element type.
struct TypeAttr {
  int number = 0;
};
struct ShapeAttr {
  bool has_rank = false;
  std::vector<int64_t> dims;  // -1: not known
};
// Stands for an attribute of a kind that no converter reads, or for a tensor that Hone does not
// have. `why` is for the message.
struct UnreadAttr {
  std::string why;
};
// A tensor is a typed kConstant.
using Attr = std::variant<int64_t, float, bool, std::string, std::vector<int64_t>, TypeAttr,
                          ShapeAttr, ir::Expr, UnreadAttr>;

struct Input {
  std::string node;
  size_t output = 0;
};

struct Node {
  std::string name;
  std::string op;
  std::vector<Input> inputs;  // without control inputs ("^node")
  std::map<std::string, Attr> attrs;
};

struct Graph {
  std::vector<Node> nodes;
  std::set<std::string> functions;  // the names of those in its library
};

// kInvalidArgument: bytes that are no GraphDef, or a damaged one.
absl::StatusOr<Graph> ReadGraph(std::string_view bytes, Allowance& allowance);

// kUnimplemented for types that Hone does not have.
absl::StatusOr<DataType> FromTypeNumber(int number);

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_GRAPH_H_
