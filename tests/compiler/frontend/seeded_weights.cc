#include "tests/compiler/frontend/seeded_weights.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "compiler/frontend/onnx/tensor.h"
#include "tests/paths.h"

namespace hone::frontend {
namespace {

using Shape = std::vector<int64_t>;

uint64_t Fnv1a(const std::string& name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

// u of element i of a tensor whose name has this hash.
double Uniform(uint64_t hash, uint64_t i) {
  uint64_t z = hash + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z = z ^ (z >> 31);
  return static_cast<double>(z >> 40) * 0x1.0p-24;
}

TensorData Fill(const std::string& name, const Shape& shape,
                const std::function<double(double u)>& value) {
  TensorData tensor = {DataType::kFloat32, shape, {}};
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<float> values(count);
  const uint64_t hash = Fnv1a(name);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(value(Uniform(hash, i)));
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

enum class Role { kWeight, kBias, kScale };

// What a tensor is to the first node that reads it.
struct Use {
  Role role = Role::kBias;
  int64_t fan_in = 1;
};

class Materializer {
 public:
  explicit Materializer(onnx::ModelProto* model)
      : model_(*model), graph_(*model->mutable_graph()) {}

  void Run(int last_scale_log2) {
    FindWeights();
    for (const onnx::NodeProto& node : nodes_) FindUses(node);
    Rewrite(last_scale_log2);
  }

 private:
  void FindWeights() {
    for (const onnx::TensorProto& tensor : graph_.initializer()) {
      initializers_[tensor.name()] = tensor;
    }
    for (const onnx::NodeProto& node : graph_.node()) {
      const bool light =
          node.op_type() == "ConstantOfShape" && initializers_.contains(node.input(0));
      if (light) {
        weights_[node.output(0)] = Ints(initializers_.at(node.input(0)));
        order_.push_back(node.output(0));
      } else {
        nodes_.push_back(node);
        producers_[node.output(0)] = node;
      }
    }
    for (const onnx::TensorProto& tensor : graph_.initializer()) {
      if (tensor.data_type() != onnx::TensorProto::FLOAT) continue;
      weights_[tensor.name()] = Shape(tensor.dims().begin(), tensor.dims().end());
      order_.push_back(tensor.name());
    }
  }

  static Shape Ints(onnx::TensorProto proto) {
    const TensorData tensor = FromProto(&proto, "").value();
    Shape values(tensor.bytes.size() / sizeof(int64_t));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
  }

  // The tensor behind Unsqueeze and Reshape.
  std::string Root(const std::string& name) const {
    const auto it = producers_.find(name);
    if (it == producers_.end()) return name;
    const std::string& op = it->second.op_type();
    return op == "Unsqueeze" || op == "Reshape" ? Root(it->second.input(0)) : name;
  }

  void Put(const onnx::NodeProto& node, int operand, Use use) {
    if (operand >= node.input_size()) return;
    const std::string root = Root(node.input(operand));
    if (weights_.contains(root)) uses_.emplace(root, use);
  }

  void FindUses(const onnx::NodeProto& node) {
    const std::string& op = node.op_type();
    if (op == "Conv" || op == "Gemm") {
      Put(node, 1, {Role::kWeight, FanIn(node)});
      Put(node, 2, {Role::kBias});
      last_weight_ = Root(node.input(1));
    } else if (op == "BatchNormalization") {
      Put(node, 1, {Role::kScale});
      Put(node, 2, {Role::kBias});
      Put(node, 3, {Role::kBias});
      Put(node, 4, {Role::kScale});
    } else if (op == "Mul" || op == "Add") {
      for (int i = 0; i < 2; ++i) Put(node, i, {op == "Mul" ? Role::kScale : Role::kBias});
    }
  }

  int64_t FanIn(const onnx::NodeProto& node) const {
    const std::string root = Root(node.input(1));
    Shape shape = weights_.at(root);
    if (root != node.input(1)) {
      shape = Ints(initializers_.at(producers_.at(node.input(1)).input(1)));
    }
    bool rows_are_outputs = node.op_type() == "Conv";
    for (const auto& attr : node.attribute()) {
      if (attr.name() == "transB" && attr.i() != 0) rows_are_outputs = true;
    }
    if (!rows_are_outputs) return shape[0];
    int64_t fan_in = 1;
    for (size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
    return fan_in;
  }

  TensorData Generate(const std::string& name, int last_scale_log2) const {
    const Use use = uses_.at(name);
    const Shape& shape = weights_.at(name);
    if (use.role == Role::kBias) {
      return Fill(name, shape, [](double u) { return (2 * u - 1) * 0.125; });
    }
    if (use.role == Role::kScale) return Fill(name, shape, [](double u) { return 0.5 + u; });
    const double bound = std::sqrt(6.0 / static_cast<double>(use.fan_in)) *
                         (name == last_weight_ ? std::ldexp(1, last_scale_log2) : 1);
    return Fill(name, shape, [=](double u) { return (2 * u - 1) * bound; });
  }

  void Rewrite(int last_scale_log2) {
    std::set<std::string> read;
    graph_.clear_node();
    for (const onnx::NodeProto& node : nodes_) {
      *graph_.add_node() = node;
      read.insert(node.input().begin(), node.input().end());
    }
    graph_.clear_initializer();
    for (const auto& [name, tensor] : initializers_) {
      if (!weights_.contains(name) && read.contains(name)) *graph_.add_initializer() = tensor;
    }
    for (const std::string& name : order_) {
      if (!read.contains(name)) continue;
      ToProto(Generate(name, last_scale_log2), name, graph_.add_initializer());
    }
    const auto inputs = graph_.input();  // old models list their weights among them
    graph_.clear_input();
    for (const onnx::ValueInfoProto& input : inputs) {
      const bool made = initializers_.contains(input.name()) || weights_.contains(input.name());
      if (!made) *graph_.add_input() = input;
    }
    model_.set_ir_version(std::max<int64_t>(model_.ir_version(), 4));
  }

  onnx::ModelProto& model_;
  onnx::GraphProto& graph_;
  std::map<std::string, onnx::TensorProto> initializers_;
  std::map<std::string, Shape> weights_;
  std::vector<std::string> order_;
  std::vector<onnx::NodeProto> nodes_;
  std::map<std::string, onnx::NodeProto> producers_;
  std::map<std::string, Use> uses_;
  std::string last_weight_;
};

}  // namespace

std::optional<std::string> SharedData() {
  const char* const given = std::getenv("HONE_SHARED_DATA");
  std::string folder = given != nullptr ? given : HONE_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

absl::StatusOr<std::string> WithSeededWeights(std::string_view model_bytes, int last_scale_log2) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(model_bytes.data(), static_cast<int>(model_bytes.size()))) {
    return absl::InvalidArgumentError("not an ONNX model");
  }
  Materializer(&model).Run(last_scale_log2);
  return model.SerializeAsString();
}

TensorData SeededInput(const std::vector<int64_t>& shape) {
  return Fill("input", shape, [](double u) { return 2 * u - 1; });
}

}  // namespace hone::frontend
