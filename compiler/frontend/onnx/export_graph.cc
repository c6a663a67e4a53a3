#include "compiler/frontend/onnx/export_graph.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/tensor.h"

namespace hone::frontend {

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

void ExportGraph::AddInitializer(const std::string& name, DataType dtype,
                                 const std::vector<int64_t>& shape, const void* bytes,
                                 size_t size) {
  onnx::TensorProto* tensor = graph_->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(ToOnnxType(dtype));
  for (const int64_t extent : shape) tensor->add_dims(extent);
  tensor->set_raw_data(bytes, size);
}

std::string ExportGraph::AddInts(const std::string& stem, const std::vector<int64_t>& values) {
  std::string name = Unique(stem);
  AddInitializer(name, DataType::kInt64, {static_cast<int64_t>(values.size())}, values.data(),
                 values.size() * sizeof(int64_t));
  return name;
}

std::string ExportGraph::AddFloat(const std::string& stem, float value) {
  std::string name = Unique(stem);
  AddInitializer(name, DataType::kFloat32, {}, &value, sizeof value);
  return name;
}

std::string ExportGraph::Operand(const ir::Expr& e, const std::string& stem) {
  const auto it = names_.find(e.get());
  if (it != names_.end()) return it->second;
  const std::string name = Unique(stem);
  names_[e.get()] = name;
  const ir::TensorType& type = e->type->tensor;
  AddInitializer(name, type.dtype, type.shape, e->data.bytes, e->data.size_bytes);
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
