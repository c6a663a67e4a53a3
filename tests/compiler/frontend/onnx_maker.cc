#include "tests/compiler/frontend/onnx_maker.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstring>

namespace hone::frontend {

TensorData FloatTensor(std::vector<int64_t> shape, const std::vector<float>& values) {
  TensorData tensor = {DataType::kFloat32, std::move(shape), {}};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

TensorData IntTensor(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  TensorData tensor = {DataType::kInt64, std::move(shape), {}};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * 8);
  return tensor;
}

std::vector<float> Floats(const TensorData& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

std::vector<int64_t> Ints(const TensorData& tensor) {
  EXPECT_EQ(tensor.dtype, DataType::kInt64);
  std::vector<int64_t> values(tensor.bytes.size() / sizeof(int64_t));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

OnnxMaker::OnnxMaker(int opset) : model_(std::make_shared<onnx::ModelProto>()) {
  model_->set_ir_version(8);
  model_->add_opset_import()->set_version(opset);
  model_->mutable_graph()->set_name("test");
}

OnnxMaker& OnnxMaker::Input(const std::string& name, const std::vector<int64_t>& shape,
                            DataType dtype) {
  onnx::ValueInfoProto* value = model_->mutable_graph()->add_input();
  value->set_name(name);
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(ToOnnxType(dtype));
  tensor->mutable_shape();
  for (const int64_t extent : shape) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (extent == -1) {
      dim->set_dim_param("N");
    } else {
      dim->set_dim_value(extent);
    }
  }
  return *this;
}

OnnxMaker& OnnxMaker::Output(const std::string& name) {
  model_->mutable_graph()->add_output()->set_name(name);
  return *this;
}

OnnxMaker& OnnxMaker::Initializer(const std::string& name, const TensorData& tensor) {
  ToProto(tensor, name, model_->mutable_graph()->add_initializer());
  return *this;
}

OnnxMaker& OnnxMaker::Node(const std::string& op, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
  onnx::NodeProto* node = model_->mutable_graph()->add_node();
  const size_t dot = op.rfind('.');
  if (dot != std::string::npos) node->set_domain(op.substr(0, dot));
  node->set_op_type(dot == std::string::npos ? op : op.substr(dot + 1));
  node->set_name(op + "_node");
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return *this;
}

std::string OnnxMaker::Bytes() const { return model_->SerializeAsString(); }

onnx::AttributeProto* OnnxMaker::Attribute(const std::string& name, int type) {
  auto* nodes = model_->mutable_graph()->mutable_node();
  onnx::AttributeProto* attr = nodes->Mutable(nodes->size() - 1)->add_attribute();
  attr->set_name(name);
  attr->set_type(static_cast<onnx::AttributeProto::AttributeType>(type));
  return attr;
}

OnnxMaker& OnnxMaker::Int(const std::string& name, int64_t value) {
  Attribute(name, onnx::AttributeProto::INT)->set_i(value);
  return *this;
}

OnnxMaker& OnnxMaker::Ints(const std::string& name, const std::vector<int64_t>& values) {
  onnx::AttributeProto* attr = Attribute(name, onnx::AttributeProto::INTS);
  for (const int64_t value : values) attr->add_ints(value);
  return *this;
}

OnnxMaker& OnnxMaker::Float(const std::string& name, float value) {
  Attribute(name, onnx::AttributeProto::FLOAT)->set_f(value);
  return *this;
}

OnnxMaker& OnnxMaker::String(const std::string& name, const std::string& value) {
  Attribute(name, onnx::AttributeProto::STRING)->set_s(value);
  return *this;
}

OnnxMaker& OnnxMaker::Graph(const std::string& name, const OnnxMaker& body) {
  *Attribute(name, onnx::AttributeProto::GRAPH)->mutable_g() = body.model_->graph();
  return *this;
}

}  // namespace hone::frontend
