// The ONNX graph that an export writes, and the table of the functions that write the operators.
// Only for .cc files of this room: it names ONNX's own types.
#ifndef HONE_COMPILER_FRONTEND_ONNX_EXPORT_GRAPH_H_
#define HONE_COMPILER_FRONTEND_ONNX_EXPORT_GRAPH_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace onnx {
class GraphProto;
class NodeProto;
class TensorProto;
class ValueInfoProto;
}  // namespace onnx

namespace hone::frontend {

// Each name is given only once. Constants become initializers, and are named after their role in
// the first node that reads them. Not thread-safe.
class ExportGraph {
 public:
  explicit ExportGraph(onnx::GraphProto* graph) : graph_(graph) {}

  // States that `e` is called `name`.
  void Define(const ir::Expr& e, const std::string& name);
  // `stem`, followed by a number if that name is taken.
  std::string Unique(const std::string& stem);
  void Reserve(const std::string& name) { used_.insert(name); }
  const std::string& NameOf(const ir::ExprNode& e) const { return names_.at(&e); }

  // Adds a node with one result, which has the node's name. The pointer stays valid.
  onnx::NodeProto* AddNode(const std::string& op, const std::string& name,
                           const std::vector<std::string>& inputs);

  // The name of `e`. A constant that has none yet becomes an initializer called `stem`.
  std::string Operand(const ir::Expr& e, const std::string& stem);
  // The names of all operands of a call; constants are called NAME_ROLE.
  std::vector<std::string> Operands(const ir::ExprNode& call, const std::string& name,
                                    const std::vector<std::string>& roles = {});
  // Adds a constant matrix in CSR form, of `columns` columns, as a sparse initializer, and returns
  // its name; nullopt if the column numbers of a row do not ascend or are out of range.
  std::optional<std::string> SparseOperand(const ir::Expr& data, const ir::Expr& indices,
                                           const ir::Expr& indptr, int64_t columns,
                                           const std::string& stem);
  // Both add an initializer for an operand that is an attribute in the graph IR, and return its
  // name.
  std::string AddInts(const std::string& stem, const std::vector<int64_t>& values);
  std::string AddFloat(const std::string& stem, float value);

  // Counts the readers of each expression in `body`. Call it before the first node is added.
  void CountUses(const ir::Expr& body);
  // States that the last node computes `e`.
  void Produced(const ir::Expr& e);
  // The last node that was added, if it computes `e` and `e` has one reader; else null.
  onnx::NodeProto* LastNodeOfOneReader(const ir::ExprNode& e);
  // Renames the result of the node that computes `e` to `name`, that of an output of the graph.
  // False if no node computes `e`, or if its result is an output already.
  bool RenameOutput(const ir::Expr& e, const std::string& name);

  static absl::Status DeclareType(const std::string& name, const ir::Type& type,
                                  onnx::ValueInfoProto* value);

 private:
  static void Fill(onnx::TensorProto* tensor, const std::string& name, DataType dtype,
                   const std::vector<int64_t>& shape, const void* bytes, size_t size);

  onnx::GraphProto* graph_;
  std::unordered_map<const ir::ExprNode*, std::string> names_;
  std::unordered_map<const ir::ExprNode*, std::string> sparse_names_;  // by their values
  std::unordered_map<const ir::ExprNode*, int> uses_;
  std::unordered_map<const ir::ExprNode*, int> producers_;  // index of the node that computes it
  std::set<const ir::ExprNode*> renamed_;
  std::set<std::string> used_;
  std::unordered_map<std::string, int> next_suffix_;
};

void SetInts(onnx::NodeProto* node, const std::string& name, const std::vector<int64_t>& values);
void SetInt(onnx::NodeProto* node, const std::string& name, int64_t value);
void SetFloat(onnx::NodeProto* node, const std::string& name, double value);

// Writes `call` as nodes, the last of them called `name`. False, with nothing written, where its
// attributes have no form in ONNX.
using Exporter = bool (*)(ExportGraph& graph, const ir::ExprNode& call, const std::string& name);
using ExporterTable = std::map<std::string, Exporter>;

// One function a file, each adding its operators to the table.
void AddArrangeExporters(ExporterTable& table);
void AddElementwiseExporters(ExporterTable& table);
void AddMatrixExporters(ExporterTable& table);
void AddNormalizationExporters(ExporterTable& table);
void AddWindowExporters(ExporterTable& table);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_EXPORT_GRAPH_H_
