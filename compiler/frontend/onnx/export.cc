#include "compiler/frontend/onnx/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/tensor.h"
#include "compiler/ops/attrs.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using Ints = std::vector<int64_t>;

constexpr int kOpset = 13;
constexpr int kIrVersion = 8;

// Operators that are one node of the same operands and no attributes.
const std::map<std::string, std::string>& PlainOperators() {
  static const auto* const table =
      new std::map<std::string, std::string>{{"nn.relu", "Relu"},
                                             {"sigmoid", "Sigmoid"},
                                             {"tanh", "Tanh"},
                                             {"exp", "Exp"},
                                             {"log", "Log"},
                                             {"sqrt", "Sqrt"},
                                             {"abs", "Abs"},
                                             {"negative", "Neg"},
                                             {"erf", "Erf"},
                                             {"copy", "Identity"},
                                             {"nn.dropout", "Identity"},
                                             {"add", "Add"},
                                             {"subtract", "Sub"},
                                             {"multiply", "Mul"},
                                             {"divide", "Div"},
                                             {"maximum", "Max"},
                                             {"minimum", "Min"},
                                             {"power", "Pow"},
                                             {"nn.global_avg_pool2d", "GlobalAveragePool"},
                                             {"nn.global_max_pool2d", "GlobalMaxPool"},
                                             {"nn.batch_flatten", "Flatten"}};
  return *table;
}

// Writes one function, operands before users.
class GraphExport {
 public:
  explicit GraphExport(onnx::GraphProto* graph) : graph_(graph) {}

  absl::Status Run(const ir::ExprNode& main) {
    graph_->set_name("main");
    CountUses(ir::Body(main));
    for (const ir::Expr& param : ir::Params(main)) {
      names_[param.get()] = param->name;
      used_.insert(param->name);
      HONE_RETURN_IF_ERROR(Declare(param->name, *param->type, graph_->add_input()));
    }
    const std::vector<ir::Expr> outputs = OutputsOf(main);
    const std::vector<std::string> names = OutputNames(main, outputs.size());
    for (const std::string& name : names) used_.insert(name);
    for (const ir::Expr& node : ir::PostOrder(ir::Body(main))) Visit(node);
    if (!missing_.empty()) {
      return absl::UnimplementedError(
          fmt::format("these operators have no form in ONNX here: {}", fmt::join(missing_, ", ")));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      onnx::NodeProto* identity = nullptr;
      if (!RenameLast(outputs[i], names[i])) {
        identity = AddNode("Identity", "output_copy", {names_.at(outputs[i].get())});
        identity->set_output(0, names[i]);
      }
      HONE_RETURN_IF_ERROR(Declare(names[i], *outputs[i]->type, graph_->add_output()));
    }
    return absl::OkStatus();
  }

 private:
  static std::vector<ir::Expr> OutputsOf(const ir::ExprNode& main) {
    const ir::Expr& body = ir::Body(main);
    return body->kind == ir::ExprKind::kTuple ? body->args : std::vector<ir::Expr>{body};
  }

  static std::vector<std::string> OutputNames(const ir::ExprNode& main, size_t count) {
    auto names = ir::GetAttr<std::vector<std::string>>(main.attrs, "output_names", {});
    if (names.size() == count) return names;
    names = {"output"};
    for (size_t i = 1; i < count; ++i) names.push_back(fmt::format("output_{}", i));
    return names;
  }

  static absl::Status Declare(const std::string& name, const ir::Type& type,
                              onnx::ValueInfoProto* value) {
    if (type.is_tuple) {
      return absl::UnimplementedError(fmt::format("\"{}\" is a tuple, which ONNX has not", name));
    }
    value->set_name(name);
    auto* tensor = value->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(ToOnnxType(type.tensor.dtype));
    auto* shape = tensor->mutable_shape();
    for (const int64_t extent : type.tensor.shape) shape->add_dim()->set_dim_value(extent);
    return absl::OkStatus();
  }

  void CountUses(const ir::Expr& body) {
    ++uses_[body.get()];
    for (const ir::Expr& node : ir::PostOrder(body)) {
      for (const ir::Expr& arg : node->args) ++uses_[arg.get()];
    }
  }

  // Gives the node that computes `e` the name of an output; false where `e` is no node of its own,
  // or is an output already, or others read it under its first name.
  bool RenameLast(const ir::Expr& e, const std::string& name) {
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

  std::string Unique(const std::string& stem) {
    std::string name = stem;
    for (int i = 1; !used_.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
    return name;
  }

  onnx::NodeProto* AddNode(const std::string& op, const std::string& name,
                           const std::vector<std::string>& inputs) {
    onnx::NodeProto* node = graph_->add_node();
    node->set_op_type(op);
    node->set_name(name);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(name);
    return node;
  }

  static void SetInts(onnx::NodeProto* node, const std::string& name, const Ints& values) {
    onnx::AttributeProto* attr = node->add_attribute();
    attr->set_name(name);
    attr->set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : values) attr->add_ints(value);
  }
  static void SetInt(onnx::NodeProto* node, const std::string& name, int64_t value) {
    onnx::AttributeProto* attr = node->add_attribute();
    attr->set_name(name);
    attr->set_type(onnx::AttributeProto::INT);
    attr->set_i(value);
  }
  static void SetFloat(onnx::NodeProto* node, const std::string& name, double value) {
    onnx::AttributeProto* attr = node->add_attribute();
    attr->set_name(name);
    attr->set_type(onnx::AttributeProto::FLOAT);
    attr->set_f(static_cast<float>(value));
  }

  void AddInitializer(const TensorData& tensor, const std::string& name) {
    ToProto(tensor, name, graph_->add_initializer());
  }

  std::string AddInts(const std::string& stem, const Ints& values) {
    TensorData tensor = {DataType::kInt64, {static_cast<int64_t>(values.size())}, {}};
    tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * 8);
    const std::string name = Unique(stem);
    AddInitializer(tensor, name);
    return name;
  }

  // The name of an operand; a constant becomes an initializer called after what it is to its first
  // user.
  std::string Operand(const ir::Expr& e, const std::string& stem) {
    const auto it = names_.find(e.get());
    if (it != names_.end()) return it->second;
    const std::string name = Unique(stem);
    names_[e.get()] = name;
    const ir::TensorType& type = e->type->tensor;
    AddInitializer({type.dtype, type.shape,
                    std::string(reinterpret_cast<const char*>(e->data.bytes), e->data.size_bytes)},
                   name);
    return name;
  }

  void Visit(const ir::Expr& node) {
    if (node->kind == ir::ExprKind::kVar || node->kind == ir::ExprKind::kTuple) return;
    if (node->kind == ir::ExprKind::kConstant) return;  // named by its first user
    if (node->kind != ir::ExprKind::kCall || node->callee) {
      missing_.insert("calls of functions, let, if and items of tuples");
      return;
    }
    const std::string stem = node->name.substr(node->name.find('.') + 1);
    const std::string name = Unique(stem);
    names_[node.get()] = name;
    if (VisitCall(*node, name)) producers_[node.get()] = graph_->node_size() - 1;
  }

  std::vector<std::string> Operands(const ir::ExprNode& call, const std::string& name,
                                    const std::vector<std::string>& roles) {
    std::vector<std::string> operands;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const std::string role = i < roles.size() ? roles[i] : fmt::format("operand_{}", i);
      operands.push_back(Operand(call.args[i], name + "_" + role));
    }
    return operands;
  }

  // False where the operator has no form in ONNX here.
  bool VisitCall(const ir::ExprNode& call, const std::string& name) {
    if (const auto it = PlainOperators().find(call.name); it != PlainOperators().end()) {
      AddNode(it->second, name, Operands(call, name, {}));
      return true;
    }
    using Method = void (GraphExport::*)(const ir::ExprNode&, const std::string&);
    static const auto* const methods = new std::map<std::string, Method>{
        {"nn.conv1d", &GraphExport::Conv},      {"nn.conv2d", &GraphExport::Conv},
        {"nn.conv3d", &GraphExport::Conv},      {"nn.dense", &GraphExport::Dense},
        {"nn.bias_add", &GraphExport::BiasAdd}, {"nn.batch_norm", &GraphExport::BatchNorm},
        {"nn.max_pool2d", &GraphExport::Pool},  {"nn.avg_pool2d", &GraphExport::Pool},
        {"nn.softmax", &GraphExport::Softmax},  {"nn.log_softmax", &GraphExport::Softmax},
        {"concatenate", &GraphExport::Concat},  {"reshape", &GraphExport::Reshape},
        {"squeeze", &GraphExport::Reshape},     {"expand_dims", &GraphExport::Reshape},
        {"transpose", &GraphExport::Transpose}, {"nn.leaky_relu", &GraphExport::LeakyRelu},
        {"clip", &GraphExport::Clip},           {"nn.lrn", &GraphExport::Lrn}};
    const auto it = methods->find(call.name);
    if (it == methods->end() || !HasOnnxForm(call)) {
      missing_.insert(call.name);
      return false;
    }
    (this->*it->second)(call, name);
    return true;
  }

  // Attributes that ONNX's operator of this opset has no word for.
  static bool HasOnnxForm(const ir::ExprNode& call) {
    const ir::Attrs& attrs = call.attrs;
    if (call.name == "nn.batch_norm") {
      return ops::BoolAttr(attrs, "center", true) && ops::BoolAttr(attrs, "scale", true) &&
             ops::IntAttr(attrs, "axis", 1) == 1;
    }
    if (call.name == "nn.avg_pool2d") return PerAxis(attrs, "dilation", 2) == Ints{1, 1};
    if (call.name == "nn.lrn") return ops::IntAttr(attrs, "axis", 1) == 1;
    if (call.name == "clip") return call.type->tensor.dtype == DataType::kFloat32;
    return true;
  }

  // Padding in ONNX's form: all begins, then all ends.
  static Ints Pads(const ir::Attrs& attrs, size_t axes) {
    Ints pads = ops::IntsAttr(attrs, "padding", Ints(axes, 0));
    if (pads.size() == 1) pads.assign(axes, pads[0]);
    if (pads.size() == axes) pads.insert(pads.end(), pads.begin(), pads.begin() + axes);
    return pads;
  }
  static Ints PerAxis(const ir::Attrs& attrs, const std::string& name, size_t axes) {
    Ints values = ops::IntsAttr(attrs, name, Ints(axes, 1));
    if (values.size() == 1) values.assign(axes, values[0]);
    return values;
  }

  void Conv(const ir::ExprNode& call, const std::string& name) {
    onnx::NodeProto* node = AddNode("Conv", name, Operands(call, name, {"data", "weight"}));
    const Ints& weight = call.args[1]->type->tensor.shape;
    const size_t axes = weight.size() - 2;
    SetInts(node, "kernel_shape", Ints(weight.begin() + 2, weight.end()));
    SetInts(node, "strides", PerAxis(call.attrs, "strides", axes));
    SetInts(node, "dilations", PerAxis(call.attrs, "dilation", axes));
    SetInts(node, "pads", Pads(call.attrs, axes));
    SetInt(node, "group", ops::IntAttr(call.attrs, "groups", 1));
  }

  void Dense(const ir::ExprNode& call, const std::string& name) {
    SetInt(AddNode("Gemm", name, Operands(call, name, {"data", "weight"})), "transB", 1);
  }

  // Goes into the Conv or Gemm before it where that has no other reader; else it is an Add of the
  // bias with axes of 1 after its own.
  void BiasAdd(const ir::ExprNode& call, const std::string& name) {
    const ir::ExprNode* const data = call.args[0].get();
    const int64_t rank = static_cast<int64_t>(call.type->tensor.shape.size());
    int64_t axis = ops::IntAttr(call.attrs, "axis", 1);
    if (axis < 0) axis += rank;
    const auto producer = producers_.find(data);
    const bool takes_bias = data->name.starts_with("nn.conv") || data->name == "nn.dense";
    if (takes_bias && axis == 1 && producer != producers_.end() && uses_.at(data) == 1 &&
        producer->second == graph_->node_size() - 1) {
      const std::string before = names_.at(data);
      onnx::NodeProto* node = graph_->mutable_node(producer->second);
      node->add_input(Operand(call.args[1], before + "_bias"));
      node->set_output(0, name);
      return;
    }
    std::vector<std::string> operands = Operands(call, name, {"data", "bias"});
    if (axis != rank - 1) {
      Ints axes;
      for (int64_t i = 1; i < rank - axis; ++i) axes.push_back(i);
      const std::string wide = Unique(name + "_bias_axes");
      AddNode("Unsqueeze", wide, {operands[1], AddInts(name + "_axes", axes)});
      operands[1] = wide;
    }
    AddNode("Add", name, operands);
  }

  void BatchNorm(const ir::ExprNode& call, const std::string& name) {
    onnx::NodeProto* node =
        AddNode("BatchNormalization", name,
                Operands(call, name, {"data", "gamma", "beta", "mean", "variance"}));
    SetFloat(node, "epsilon", ops::FloatAttr(call.attrs, "epsilon", 1e-5));
  }

  void Pool(const ir::ExprNode& call, const std::string& name) {
    const bool average = call.name == "nn.avg_pool2d";
    onnx::NodeProto* node =
        AddNode(average ? "AveragePool" : "MaxPool", name, Operands(call, name, {}));
    SetInts(node, "kernel_shape", PerAxis(call.attrs, "pool_size", 2));
    SetInts(node, "strides", PerAxis(call.attrs, "strides", 2));
    SetInts(node, "pads", Pads(call.attrs, 2));
    SetInt(node, "ceil_mode", ops::BoolAttr(call.attrs, "ceil_mode", false) ? 1 : 0);
    if (average) {
      const bool count = ops::BoolAttr(call.attrs, "count_include_pad", false);
      SetInt(node, "count_include_pad", count ? 1 : 0);
    } else {
      SetInts(node, "dilations", PerAxis(call.attrs, "dilation", 2));
    }
  }

  void Softmax(const ir::ExprNode& call, const std::string& name) {
    onnx::NodeProto* node = AddNode(call.name == "nn.softmax" ? "Softmax" : "LogSoftmax", name,
                                    Operands(call, name, {}));
    SetInt(node, "axis", ops::IntAttr(call.attrs, "axis", -1));
  }

  void Concat(const ir::ExprNode& call, const std::string& name) {
    const ir::ExprNode& parts = *call.args[0];
    SetInt(AddNode("Concat", name, Operands(parts, name, {})), "axis",
           ops::IntAttr(call.attrs, "axis", 0));
  }

  // Also squeeze and expand_dims: the result's shape is known.
  void Reshape(const ir::ExprNode& call, const std::string& name) {
    std::vector<std::string> operands = Operands(call, name, {"data"});
    operands.push_back(AddInts(name + "_shape", call.type->tensor.shape));
    AddNode("Reshape", name, operands);
  }

  void Transpose(const ir::ExprNode& call, const std::string& name) {
    onnx::NodeProto* node = AddNode("Transpose", name, Operands(call, name, {"data"}));
    if (!call.attrs.contains("axes")) return;
    Ints axes = ops::IntsAttr(call.attrs, "axes");
    for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(axes.size()) : 0;
    SetInts(node, "perm", axes);
  }

  void LeakyRelu(const ir::ExprNode& call, const std::string& name) {
    SetFloat(AddNode("LeakyRelu", name, Operands(call, name, {})), "alpha",
             ops::FloatAttr(call.attrs, "alpha", 0.01));
  }

  void Clip(const ir::ExprNode& call, const std::string& name) {
    std::vector<std::string> operands = Operands(call, name, {});
    for (const char* const bound : {"a_min", "a_max"}) {
      if (!call.attrs.contains(bound)) {
        operands.push_back("");
        continue;
      }
      const auto value = static_cast<float>(ops::FloatAttr(call.attrs, bound, 0));
      operands.push_back(Unique(name + "_" + bound));
      AddInitializer({DataType::kFloat32,
                      {},
                      std::string(reinterpret_cast<const char*>(&value), sizeof value)},
                     operands.back());
    }
    AddNode("Clip", name, operands);
  }

  void Lrn(const ir::ExprNode& call, const std::string& name) {
    onnx::NodeProto* node = AddNode("LRN", name, Operands(call, name, {}));
    SetInt(node, "size", ops::IntAttr(call.attrs, "size", 5));
    SetFloat(node, "alpha", ops::FloatAttr(call.attrs, "alpha", 1e-4));
    SetFloat(node, "beta", ops::FloatAttr(call.attrs, "beta", 0.75));
    SetFloat(node, "bias", ops::FloatAttr(call.attrs, "bias", 1));
  }

  onnx::GraphProto* graph_;
  std::unordered_map<const ir::ExprNode*, std::string> names_;
  std::unordered_map<const ir::ExprNode*, int> uses_;
  std::unordered_map<const ir::ExprNode*, int> producers_;  // index of the node that computes it
  std::set<const ir::ExprNode*> renamed_;
  std::set<std::string> used_;
  std::set<std::string> missing_;
};

}  // namespace

absl::StatusOr<std::string> ExportOnnxBytes(const ir::Module& module) {
  const auto main = module.functions.find("main");
  if (main == module.functions.end() || !ir::Body(*main->second)->type) {
    return absl::InvalidArgumentError("a module with a typed main was expected");
  }
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("hone");
  model.add_opset_import()->set_version(kOpset);
  HONE_RETURN_IF_ERROR(GraphExport(model.mutable_graph()).Run(*main->second));
  std::string bytes;
  if (model.ByteSizeLong() >= (size_t{1} << 31) || !model.SerializeToString(&bytes)) {
    return absl::InvalidArgumentError("the model is larger than the 2 GiB of an ONNX file");
  }
  return bytes;
}

absl::Status ExportOnnx(const ir::Module& module, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ExportOnnxBytes(module));
  return WriteWholeFile(path, bytes);
}

}  // namespace hone::frontend
