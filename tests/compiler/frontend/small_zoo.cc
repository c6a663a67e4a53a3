#include "tests/compiler/frontend/small_zoo.h"

#include "tests/compiler/frontend/seeded_weights.h"

namespace hone::frontend {
namespace {

// Tokens, of which small models have few too; and a mask, in which every fourth is 0.
TensorData Integers(const ir::Expr& param) {
  const ir::TensorType& type = param->type->tensor;
  std::vector<int64_t> values(type.ElementCount());
  const bool mask = param->name.find("mask") != std::string::npos;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = mask ? (i % 4 == 3 ? 0 : 1) : static_cast<int64_t>(i * 7 % 11);
  }
  return {
      type.dtype, type.shape,
      std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t))};
}

}  // namespace

ir::Module SmallModel::Build() const { return *ZooModel(name, size); }

void PrintTo(const SmallModel& model, std::ostream* out) { *out << model.name; }

const std::vector<SmallModel>& SmallZoo() {
  static const auto* const models = new std::vector<SmallModel>{
      {"bert", {2, 16, 16}},       {"dcgan", {2, 64, 1}},     {"densenet121", {1, 16, 7}},
      {"dqn", {2, 8, 2}},          {"gcn", {2, 4, 64}},       {"inception_v3", {1, 16, 3}},
      {"lstm", {2, 8, 4}},         {"mlp", {2, 1, 1}},        {"mobilenet", {2, 16, 7}},
      {"mobilenet_v2", {1, 8, 7}}, {"resnet101", {1, 16, 7}}, {"resnet152", {1, 16, 7}},
      {"resnet18", {2, 16, 7}},    {"resnet34", {1, 16, 7}},  {"resnet50", {1, 16, 7}},
      {"resnet_3d", {1, 16, 4}},   {"squeezenet", {1, 8, 4}}, {"synthetic", {2, 4, 1}},
      {"vgg16", {1, 16, 7}}};
  return *models;
}

std::vector<TensorData> InputsOf(const ir::Module& module) {
  std::vector<TensorData> inputs;
  for (const ir::Expr& param : ir::Params(*module.functions.at("main"))) {
    const ir::TensorType& type = param->type->tensor;
    inputs.push_back(type.dtype == DataType::kInt64 ? Integers(param) : SeededInput(type.shape));
  }
  return inputs;
}

}  // namespace hone::frontend
