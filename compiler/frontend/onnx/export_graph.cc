#include "compiler/frontend/onnx/export_graph.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <cstring>

#include "compiler/frontend/onnx/tensor.h"

namespace hone::frontend {
namespace {

// The elements of a constant of int32 or int64.
std::vector<int64_t> IntegersOf(const ir::ExprNode& constant) {
  const auto read = [&](auto number) {
    std::vector<int64_t> values;
    for (size_t at = 0; at < constant.data.size_bytes(); at += sizeof number) {
      std::memcpy(&number, constant.data.bytes() + at, sizeof number);
      values.push_back(number);
    }
    return values;
  };
  return constant.type->tensor.dtype == DataType::kInt32 ? read(int32_t{0}) : read(int64_t{0});
}

// Positions in the whole matrix, row by row; nullopt where they do not ascend.
std::optional<std::vector<int64_t>> FlatIndices(const std::vector<int64_t>& indices,
                                                const std::vector<int64_t>& indptr,
                                                int64_t columns) {
  std::vector<int64_t> flat;
  const auto count = static_cast<int64_t>(indices.size());
  if (indptr.front() != 0 || indptr.back() != count) return std::nullopt;
  for (size_t row = 0; row + 1 < indptr.size(); ++row) {
    if (indptr[row] > indptr[row + 1] || indptr[row + 1] > count) return std::nullopt;
    for (int64_t i = indptr[row]; i < indptr[row + 1]; ++i) {
      const bool ascends = i == indptr[row] || indices[i - 1] < indices[i];
      if (!ascends || indices[i] < 0 || indices[i] >= columns) return std::nullopt;
      flat.push_back(static_cast<int64_t>(row) * columns + indices[i]);
    }
  }
  return flat;
}

}  // namespace

void ExportGraph::Define(const ir::Expr& e, const std::string& name) { names_[e.get()] = name; }

std::string ExportGraph::Unique(const std::string& stem) {
  std::string name = stem;
  int& suffix = next_suffix_[stem];
  while (!used_.insert(name).second) name = fmt::format("{}_{}", stem, ++suffix);
  return name;
}

onnx::NodeProto* ExportGraph::AddNode(const std::string& op, const std::string& name,
                                      const std::vector<std::string>& inputs) {
  onnx::NodeProto* node = graph_->add_node();
  node->set_op_type(op);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(name);
  return node;
}

void ExportGraph::Fill(onnx::TensorProto* tensor, const std::string& name, DataType dtype,
                       const std::vector<int64_t>& shape, const void* bytes, size_t size) {
  tensor->set_name(name);
  tensor->set_data_type(ToOnnxType(dtype));
  for (const int64_t extent : shape) tensor->add_dims(extent);
  tensor->mutable_raw_data()->assign(static_cast<const char*>(bytes), size);  // makes no copy more
}

std::string ExportGraph::AddInts(const std::string& stem, const std::vector<int64_t>& values) {
  std::string name = Unique(stem);
  Fill(graph_->add_initializer(), name, DataType::kInt64, {static_cast<int64_t>(values.size())},
       values.data(), values.size() * sizeof(int64_t));
  return name;
}

std::string ExportGraph::AddFloat(const std::string& stem, float value) {
  std::string name = Unique(stem);
  Fill(graph_->add_initializer(), name, DataType::kFloat32, {}, &value, sizeof value);
  return name;
}

std::string ExportGraph::Operand(const ir::Expr& e, const std::string& stem) {
  const auto it = names_.find(e.get());
  if (it != names_.end()) return it->second;
  const std::string name = Unique(stem);
  names_[e.get()] = name;
  const ir::TensorType& type = e->type->tensor;
  Fill(graph_->add_initializer(), name, type.dtype, type.shape, e->data.bytes(),
       e->data.size_bytes());
  return name;
}

std::vector<std::string> ExportGraph::Operands(const ir::ExprNode& call, const std::string& name,
                                               const std::vector<std::string>& roles) {
  std::vector<std::string> operands;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const std::string role = i < roles.size() ? roles[i] : fmt::format("operand_{}", i);
    operands.push_back(Operand(call.args[i], name + "_" + role));
  }
  return operands;
}

std::optional<std::string> ExportGraph::SparseOperand(const ir::Expr& data, const ir::Expr& indices,
                                                      const ir::Expr& indptr, int64_t columns,
                                                      const std::string& stem) {
  const auto it = sparse_names_.find(data.get());
  if (it != sparse_names_.end()) return it->second;
  const std::optional<std::vector<int64_t>> flat =
      FlatIndices(IntegersOf(*indices), IntegersOf(*indptr), columns);
  if (!flat) return std::nullopt;
  const std::string name = Unique(stem);
  sparse_names_[data.get()] = name;
  const auto count = static_cast<int64_t>(flat->size());
  onnx::SparseTensorProto* sparse = graph_->add_sparse_initializer();
  Fill(sparse->mutable_values(), name, data->type->tensor.dtype, {count}, data->data.bytes(),
       data->data.size_bytes());
  Fill(sparse->mutable_indices(), Unique(stem + "_indices"), DataType::kInt64, {count},
       flat->data(), flat->size() * sizeof(int64_t));
  sparse->add_dims(indptr->type->tensor.shape[0] - 1);
  sparse->add_dims(columns);
  return name;
}

void ExportGraph::CountUses(const ir::Expr& body) {
  ++uses_[body.get()];
  for (const ir::Expr& node : ir::PostOrder(body)) {
    for (const ir::Expr& arg : node->args) ++uses_[arg.get()];
  }
}

void ExportGraph::Produced(const ir::Expr& e) { producers_[e.get()] = graph_->node_size() - 1; }

onnx::NodeProto* ExportGraph::LastNodeOfOneReader(const ir::ExprNode& e) {
  const auto producer = producers_.find(&e);
  const bool last = producer != producers_.end() && producer->second == graph_->node_size() - 1;
  return last && uses_.at(&e) == 1 ? graph_->mutable_node(producer->second) : nullptr;
}

bool ExportGraph::RenameOutput(const ir::Expr& e, const std::string& name) {
  const auto it = producers_.find(e.get());
  if (it == producers_.end() || !renamed_.insert(e.get()).second) return false;
  const std::string old = names_.at(e.get());
  graph_->mutable_node(it->second)->set_output(0, name);
  for (onnx::NodeProto& node : *graph_->mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      if (input == old) input = name;
    }
  }
  names_[e.get()] = name;
  return true;
}

absl::Status ExportGraph::DeclareType(const std::string& name, const ir::Type& type,
                                      onnx::ValueInfoProto* value) {
  if (!type.IsTensor()) {
    return absl::UnimplementedError(fmt::format("\"{}\" is no tensor, which ONNX has not", name));
  }
  value->set_name(name);
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(ToOnnxType(type.tensor.dtype));
  auto* shape = tensor->mutable_shape();
  for (const int64_t extent : type.tensor.shape) shape->add_dim()->set_dim_value(extent);
  return absl::OkStatus();
}

namespace {

onnx::AttributeProto* AddAttribute(onnx::NodeProto* node, const std::string& name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto* attr = node->add_attribute();
  attr->set_name(name);
  attr->set_type(type);
  return attr;
}

}  // namespace

void SetInts(onnx::NodeProto* node, const std::string& name, const std::vector<int64_t>& values) {
  onnx::AttributeProto* attr = AddAttribute(node, name, onnx::AttributeProto::INTS);
  for (const int64_t value : values) attr->add_ints(value);
}

void SetInt(onnx::NodeProto* node, const std::string& name, int64_t value) {
  AddAttribute(node, name, onnx::AttributeProto::INT)->set_i(value);
}

void SetFloat(onnx::NodeProto* node, const std::string& name, double value) {
  AddAttribute(node, name, onnx::AttributeProto::FLOAT)->set_f(static_cast<float>(value));
}

}  // namespace hone::frontend
