// An ONNX graph in our own types: what the converters see, free of protobuf.
#ifndef HONE_COMPILER_FRONTEND_ONNX_MODEL_H_
#define HONE_COMPILER_FRONTEND_ONNX_MODEL_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

struct OnnxGraph;

// An attribute that is a graph; `graph` is null if the attribute is of a kind that Hone does not
// read.
struct OnnxSubgraph {
  std::shared_ptr<const OnnxGraph> graph;
};
// An attribute that is a tensor is a typed kConstant.
using OnnxAttr = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                              std::vector<std::string>, ir::Expr, OnnxSubgraph>;

using OnnxAttrs = std::map<std::string, OnnxAttr>;

struct OnnxNode {
  std::string name;      // that of the first output if the model gives none
  std::string op;        // behind its domain if that is not ONNX's own: "com.microsoft.QGemm"
  std::string overload;  // which of the model's functions of that name; mostly empty
  std::vector<std::string> inputs;  // an empty name: an optional input left out
  std::vector<std::string> outputs;
  OnnxAttrs attrs;
  // In the body of a function: for each attribute that takes the value of an attribute of the
  // function, the name of that.
  std::map<std::string, std::string> attr_refs;
  bool gives_four_bit = false;  // a tensor among its attributes is of 4-bit integers
};

// A sparse initializer. `positions` are row-major (row * columns + column), ascending, each once,
// and within the shape; `values` has one element for each.
struct SparseInitializer {
  ir::TensorType type;
  std::vector<int64_t> positions;
  std::string values;
};
using SparseInitializers = std::map<std::string, std::shared_ptr<const SparseInitializer>>;

// The body of an If, Loop or Scan: it may read the tensors of the graphs around it.
struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<std::string> inputs;  // without initializers
  std::vector<std::string> outputs;
  std::map<std::string, ir::Expr> initializers;  // typed kConstants
  SparseInitializers sparse_initializers;
  std::set<std::string> four_bit;  // initializers of 4-bit integers, unpacked to bytes
};

// A model-local function: a graph of its own that sees nothing around it.
struct OnnxFunction {
  int64_t opset = 0;  // that of the model if the function imports none of ONNX's own domain
  std::vector<OnnxNode> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::set<std::string> attrs;  // the names of all that it has
  OnnxAttrs defaults;           // the values of those that a call may leave out
};
// The functions by operator, as in OnnxNode, and overload. A function takes precedence over an
// operator of the same name.
using OnnxFunctions = std::map<std::pair<std::string, std::string>, OnnxFunction>;

struct OnnxInput {
  std::string name;
  DataType dtype = DataType::kFloat32;
  bool is_four_bit = false;  // holds 4-bit integers; `dtype` is the type of the bytes
  bool has_shape = false;
  std::vector<int64_t> shape;        // -1: symbolic
  std::vector<std::string> symbols;  // the name of each symbolic extent, "?" where it has none
};

struct OnnxModel {
  int64_t opset = 0;  // as the file has it; 0: none, which only functions allow
  std::vector<OnnxNode> nodes;
  OnnxFunctions functions;
  std::vector<OnnxInput> inputs;     // without initializers
  std::vector<OnnxInput> defaulted;  // inputs that initializers give a default value
  std::vector<OnnxInput> left_out;   // inputs of both kinds that CutAt has left out
  std::vector<std::string> outputs;
  std::map<std::string, ir::Expr> initializers;  // typed kConstants
  SparseInitializers sparse_initializers;
  std::set<std::string> four_bit;  // inputs and initializers, as in OnnxGraph
};

// Reads a model from bytes. Errors are those of ImportOnnx.
absl::StatusOr<OnnxModel> ReadOnnxModel(std::string_view bytes, const std::string& folder);
// Reads a model from a file, block by block, so that weights are in memory once. SizeOfFile must
// have accepted the file.
absl::StatusOr<OnnxModel> ReadOnnxModelFile(const std::string& path, const std::string& folder);

// A typed constant that takes the bytes over.
ir::Expr MakeConstant(std::vector<int64_t> shape, DataType dtype, std::string bytes);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_MODEL_H_
