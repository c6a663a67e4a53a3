#include "tests/compiler/frontend/graph_def_maker.h"

namespace hone::frontend {
namespace {

constexpr int kFloat = 1;
constexpr int kInt32 = 3;

void SetShape(const std::vector<int64_t>& extents, hone::tensorflow::TensorShape* shape) {
  for (const int64_t extent : extents) shape->add_dim()->set_size(extent);
}

}  // namespace

hone::tensorflow::AttrValue& GraphDefMaker::Last(const std::string& attr) {
  return (*graph_.mutable_node(graph_.node_size() - 1)->mutable_attr())[attr];
}

GraphDefMaker& GraphDefMaker::Node(const std::string& op, const std::string& name,
                                   const std::vector<std::string>& inputs) {
  auto* const node = graph_.add_node();
  node->set_op(op);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  return *this;
}

GraphDefMaker& GraphDefMaker::Placeholder(const std::string& name,
                                          const std::vector<int64_t>& shape) {
  Node("Placeholder", name, {});
  Last("dtype").set_type(kFloat);
  SetShape(shape, Last("shape").mutable_shape());
  return *this;
}

hone::tensorflow::TensorProto& GraphDefMaker::Constant(const std::string& name, int dtype,
                                                       const std::vector<int64_t>& shape) {
  Node("Const", name, {});
  Last("dtype").set_type(dtype);
  auto& tensor = *Last("value").mutable_tensor();
  tensor.set_dtype(dtype);
  SetShape(shape, tensor.mutable_tensor_shape());
  return tensor;
}

GraphDefMaker& GraphDefMaker::Floats(const std::string& name, const std::vector<int64_t>& shape,
                                     const std::vector<float>& values) {
  auto& tensor = Constant(name, kFloat, shape);
  for (const float value : values) tensor.add_float_val(value);
  return *this;
}

GraphDefMaker& GraphDefMaker::Ints(const std::string& name, const std::vector<int32_t>& values) {
  auto& tensor = Constant(name, kInt32, {static_cast<int64_t>(values.size())});
  for (const int32_t value : values) tensor.add_int_val(value);
  return *this;
}

GraphDefMaker& GraphDefMaker::Attr(const std::string& name, int64_t value) {
  Last(name).set_i(value);
  return *this;
}

GraphDefMaker& GraphDefMaker::Attr(const std::string& name, const std::string& value) {
  Last(name).set_s(value);
  return *this;
}

GraphDefMaker& GraphDefMaker::Flag(const std::string& name, bool value) {
  Last(name).set_b(value);
  return *this;
}

GraphDefMaker& GraphDefMaker::Float(const std::string& name, float value) {
  Last(name).set_f(value);
  return *this;
}

GraphDefMaker& GraphDefMaker::List(const std::string& name, const std::vector<int64_t>& values) {
  auto* const list = Last(name).mutable_list();
  for (const int64_t value : values) list->add_i(value);
  return *this;
}

GraphDefMaker& GraphDefMaker::Window(int64_t stride, const std::string& padding, int64_t taps) {
  if (taps != 0) List("ksize", {1, taps, taps, 1});
  return List("strides", {1, stride, stride, 1}).Attr("padding", padding);
}

}  // namespace hone::frontend
