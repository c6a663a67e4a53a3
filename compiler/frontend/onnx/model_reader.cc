#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <set>

#include "compiler/frontend/onnx/model.h"
#include "compiler/frontend/onnx/sparse_tensor.h"
#include "compiler/frontend/onnx/tensor.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<ir::Expr> TakeTensor(onnx::TensorProto* proto, const std::string& folder) {
  HONE_ASSIGN_OR_RETURN(TensorData tensor, FromProto(proto, folder));
  return MakeConstant(std::move(tensor.shape), tensor.dtype, std::move(tensor.bytes));
}

absl::StatusOr<OnnxAttr> ReadSubgraph(onnx::GraphProto* graph, const std::string& folder);

// Files of the first versions say nothing of an attribute's kind: it is that of the field that is
// there.
onnx::AttributeProto::AttributeType KindOf(const onnx::AttributeProto& attr) {
  using onnx::AttributeProto;
  if (attr.type() != AttributeProto::UNDEFINED) return attr.type();
  if (attr.has_f()) return AttributeProto::FLOAT;
  if (attr.has_i()) return AttributeProto::INT;
  if (attr.has_s()) return AttributeProto::STRING;
  if (attr.has_t()) return AttributeProto::TENSOR;
  if (attr.has_g()) return AttributeProto::GRAPH;
  if (attr.floats_size() > 0) return AttributeProto::FLOATS;
  if (attr.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::INTS;  // an empty list of any kind, too
}

absl::StatusOr<OnnxAttr> ReadAttr(onnx::AttributeProto* attr, const std::string& folder) {
  using onnx::AttributeProto;
  switch (KindOf(*attr)) {
    case AttributeProto::INT:
      return OnnxAttr(static_cast<int64_t>(attr->i()));
    case AttributeProto::FLOAT:
      return OnnxAttr(attr->f());
    case AttributeProto::STRING:
      return OnnxAttr(attr->s());
    case AttributeProto::INTS:
      return OnnxAttr(std::vector<int64_t>(attr->ints().begin(), attr->ints().end()));
    case AttributeProto::FLOATS:
      return OnnxAttr(std::vector<float>(attr->floats().begin(), attr->floats().end()));
    case AttributeProto::STRINGS:
      return OnnxAttr(std::vector<std::string>(attr->strings().begin(), attr->strings().end()));
    case AttributeProto::TENSOR: {
      HONE_ASSIGN_OR_RETURN(ir::Expr constant, TakeTensor(attr->mutable_t(), folder));
      return OnnxAttr(std::move(constant));
    }
    case AttributeProto::GRAPH:
      return ReadSubgraph(attr->mutable_g(), folder);
    default:  // sparse tensors, types: an operator that needs them is refused by its name
      return OnnxAttr(OnnxSubgraph{});
  }
}

bool IsOwnDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::string OperatorName(const std::string& domain, const std::string& op) {
  return IsOwnDomain(domain) ? op : domain + "." + op;
}

// The bytes of each text or message in a field that is newer than the library's description of the
// format.
template <typename Message>
std::vector<std::string> NewerField(const Message& message, int number) {
  std::vector<std::string> values;
  const google::protobuf::UnknownFieldSet& fields = message.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      values.push_back(field.length_delimited());
    }
  }
  return values;
}

template <typename Message>
std::string OverloadOf(const Message& message, int number) {
  const std::vector<std::string> values = NewerField(message, number);
  return values.empty() ? "" : values.back();
}

absl::StatusOr<OnnxNode> ReadNode(onnx::NodeProto* proto, const std::string& folder) {
  constexpr int kOverload = 8;
  OnnxNode node;
  node.op = OperatorName(proto->domain(), proto->op_type());
  node.overload = OverloadOf(*proto, kOverload);
  node.inputs.assign(proto->input().begin(), proto->input().end());
  node.outputs.assign(proto->output().begin(), proto->output().end());
  node.name = proto->name();
  if (node.name.empty() && !node.outputs.empty()) node.name = node.outputs[0];
  for (onnx::AttributeProto& attr : *proto->mutable_attribute()) {
    if (!attr.ref_attr_name().empty()) {
      node.attr_refs[attr.name()] = attr.ref_attr_name();
      continue;
    }
    node.gives_four_bit = node.gives_four_bit || IsFourBit(attr.t());
    HONE_ASSIGN_OR_RETURN(OnnxAttr value, ReadAttr(&attr, folder));
    if (!node.attrs.emplace(attr.name(), std::move(value)).second) {
      return absl::InvalidArgumentError(
          fmt::format("it has two attributes named \"{}\"", attr.name()));
    }
  }
  return node;
}

absl::StatusOr<OnnxInput> ReadInput(const onnx::ValueInfoProto& proto) {
  if (!proto.type().has_tensor_type()) {
    return absl::UnimplementedError(
        fmt::format("input \"{}\" was expected to be a tensor, found another type", proto.name()));
  }
  OnnxInput input;
  input.name = proto.name();
  const auto& type = proto.type().tensor_type();
  const std::optional<DataType> bytes = FourBitIn(type.elem_type());
  input.is_four_bit = bytes.has_value();
  const absl::StatusOr<DataType> dtype =
      bytes ? absl::StatusOr<DataType>(*bytes) : FromOnnxType(type.elem_type());
  if (!dtype.ok()) {
    return absl::Status(dtype.status().code(), fmt::format("input \"{}\": {}", proto.name(),
                                                           std::string(dtype.status().message())));
  }
  input.dtype = *dtype;
  input.has_shape = type.has_shape();
  for (const auto& dim : type.shape().dim()) {
    const bool known = dim.has_dim_value() && dim.dim_value() >= 0;
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      return absl::InvalidArgumentError(
          fmt::format("input \"{}\": an extent of at least 0 was expected, found {}", proto.name(),
                      dim.dim_value()));
    }
    input.shape.push_back(known ? dim.dim_value() : -1);
    input.symbols.push_back(dim.has_dim_param() && !dim.dim_param().empty() ? dim.dim_param()
                                                                            : "?");
  }
  return input;
}

// An input of the type of its default value.
OnnxInput InputLike(const std::string& name, const ir::ExprNode& value) {
  const ir::TensorType& type = value.type->tensor;
  return {.name = name,
          .dtype = type.dtype,
          .has_shape = true,
          .shape = type.shape,
          .symbols = std::vector<std::string>(type.shape.size(), "?")};
}

// The opset of ONNX's own domain; 0 where there is none.
template <typename Imports>
int64_t OpsetOf(const Imports& imports) {
  for (const onnx::OperatorSetIdProto& import : imports) {
    if (IsOwnDomain(import.domain())) return import.version();
  }
  return 0;
}

absl::StatusOr<int64_t> ReadOpset(const onnx::ModelProto& proto) {
  if (proto.opset_import().empty()) return 1;  // IR 1 and 2 have none
  const int64_t opset = OpsetOf(proto.opset_import());
  if (opset < (proto.functions().empty() ? 1 : 0)) {
    return absl::InvalidArgumentError("the model imports no opset of ONNX's own domain");
  }
  return opset;
}

// Every tensor of a graph has a name of its own.
absl::Status TwoOf(std::string_view what, const std::string& name) {
  return absl::InvalidArgumentError(fmt::format("the graph has two {} named \"{}\"", what, name));
}

using Initializers = std::map<std::string, ir::Expr>;

absl::StatusOr<Initializers> ReadInitializers(onnx::GraphProto* graph, const std::string& folder) {
  Initializers initializers;
  for (onnx::TensorProto& tensor : *graph->mutable_initializer()) {
    HONE_ASSIGN_OR_RETURN(ir::Expr constant, TakeTensor(&tensor, folder));
    if (!initializers.emplace(tensor.name(), std::move(constant)).second) {
      return TwoOf("initializers", tensor.name());
    }
  }
  return initializers;
}

std::set<std::string> FourBitInitializers(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (IsFourBit(tensor)) names.insert(tensor.name());
  }
  return names;
}

// The nodes of a graph or function.
template <typename Proto>
absl::StatusOr<std::vector<OnnxNode>> ReadNodes(Proto* graph, const std::string& folder) {
  std::vector<OnnxNode> nodes;
  for (onnx::NodeProto& proto : *graph->mutable_node()) {
    absl::StatusOr<OnnxNode> node = ReadNode(&proto, folder);
    if (!node.ok()) {
      return absl::Status(node.status().code(),
                          fmt::format("node \"{}\" ({}): {}", proto.name(), proto.op_type(),
                                      std::string(node.status().message())));
    }
    nodes.push_back(*std::move(node));
  }
  return nodes;
}

absl::StatusOr<SparseInitializers> ReadSparse(onnx::GraphProto* graph,
                                              const Initializers& initializers,
                                              const std::string& folder) {
  SparseInitializers result;
  for (onnx::SparseTensorProto& proto : *graph->mutable_sparse_initializer()) {
    if (IsFourBit(proto.values())) {
      return absl::UnimplementedError(
          fmt::format("sparse tensor \"{}\": Hone has no sparse ones of 4-bit integers",
                      proto.values().name()));
    }
    HONE_ASSIGN_OR_RETURN(SparseInitializer sparse, ReadSparseTensor(proto, folder));
    auto shared = std::make_shared<const SparseInitializer>(std::move(sparse));
    const std::string& name = proto.values().name();
    if (initializers.contains(name) || !result.emplace(name, std::move(shared)).second) {
      return TwoOf("initializers", name);
    }
    proto.mutable_values()->clear_raw_data();
    proto.clear_indices();
  }
  return result;
}

// Graphs nest as deep as protobuf lets messages do.
absl::StatusOr<OnnxAttr> ReadSubgraph(onnx::GraphProto* graph, const std::string& folder) {
  auto result = std::make_shared<OnnxGraph>();
  HONE_ASSIGN_OR_RETURN(result->initializers, ReadInitializers(graph, folder));
  HONE_ASSIGN_OR_RETURN(result->sparse_initializers,
                        ReadSparse(graph, result->initializers, folder));
  result->four_bit = FourBitInitializers(*graph);
  for (const onnx::ValueInfoProto& value : graph->input()) {
    if (result->initializers.contains(value.name())) continue;
    if (!result->sparse_initializers.contains(value.name())) result->inputs.push_back(value.name());
  }
  HONE_ASSIGN_OR_RETURN(result->nodes, ReadNodes(graph, folder));
  for (const onnx::ValueInfoProto& value : graph->output()) result->outputs.push_back(value.name());
  return OnnxAttr(OnnxSubgraph{std::move(result)});
}

// Its attributes with a default value.
absl::StatusOr<OnnxAttrs> ReadDefaults(const onnx::FunctionProto& proto,
                                       const std::string& folder) {
  constexpr int kAttributeProto = 11;
  OnnxAttrs defaults;
  for (const std::string& bytes : NewerField(proto, kAttributeProto)) {
    onnx::AttributeProto attr;
    if (!attr.ParseFromString(bytes)) {
      return absl::InvalidArgumentError("its attributes' default values are damaged");
    }
    if (IsFourBit(attr.t())) {  // what reads it within could not be told that it is
      return absl::UnimplementedError(fmt::format(
          "Hone has no 4-bit integers as the default of an attribute, found {}; put the "
          "tensor into the function",
          attr.name()));
    }
    HONE_ASSIGN_OR_RETURN(OnnxAttr value, ReadAttr(&attr, folder));
    defaults.emplace(attr.name(), std::move(value));
  }
  return defaults;
}

absl::StatusOr<OnnxFunction> ReadFunction(onnx::FunctionProto* proto, const std::string& folder) {
  OnnxFunction function;
  function.opset = OpsetOf(proto->opset_import());
  function.inputs.assign(proto->input().begin(), proto->input().end());
  function.outputs.assign(proto->output().begin(), proto->output().end());
  function.attrs.insert(proto->attribute().begin(), proto->attribute().end());
  HONE_ASSIGN_OR_RETURN(function.defaults, ReadDefaults(*proto, folder));
  for (const auto& [name, value] : function.defaults) function.attrs.insert(name);
  HONE_ASSIGN_OR_RETURN(function.nodes, ReadNodes(proto, folder));
  return function;
}

absl::StatusOr<OnnxFunctions> ReadFunctions(onnx::ModelProto* model, const std::string& folder) {
  constexpr int kOverload = 13;
  OnnxFunctions functions;
  for (onnx::FunctionProto& proto : *model->mutable_functions()) {
    const std::string name = OperatorName(proto.domain(), proto.name());
    const std::string overload = OverloadOf(proto, kOverload);
    absl::StatusOr<OnnxFunction> function = ReadFunction(&proto, folder);
    if (!function.ok()) {
      return absl::Status(
          function.status().code(),
          fmt::format("function \"{}\": {}", name, std::string(function.status().message())));
    }
    if (!functions.emplace(std::pair(name, overload), *std::move(function)).second) {
      return absl::InvalidArgumentError(
          fmt::format("the model has two functions \"{}\" of one overload", name));
    }
  }
  return functions;
}

absl::Status ReadGraph(onnx::GraphProto* graph, const std::string& folder, OnnxModel* model) {
  HONE_ASSIGN_OR_RETURN(model->initializers, ReadInitializers(graph, folder));
  HONE_ASSIGN_OR_RETURN(model->sparse_initializers, ReadSparse(graph, model->initializers, folder));
  model->four_bit = FourBitInitializers(*graph);
  std::set<std::string> seen;
  for (const onnx::ValueInfoProto& value : graph->input()) {
    if (!seen.insert(value.name()).second) return TwoOf("inputs", value.name());
    if (model->sparse_initializers.contains(value.name())) continue;
    absl::StatusOr<OnnxInput> input = ReadInput(value);
    const auto initial = model->initializers.find(value.name());
    if (initial != model->initializers.end()) {
      if (!input.ok()) input = InputLike(value.name(), *initial->second);
      model->defaulted.push_back(*std::move(input));
      continue;
    }
    HONE_RETURN_IF_ERROR(input.status());
    if (input->is_four_bit) model->four_bit.insert(input->name);
    model->inputs.push_back(*std::move(input));
  }
  HONE_ASSIGN_OR_RETURN(model->nodes, ReadNodes(graph, folder));
  for (const onnx::ValueInfoProto& value : graph->output()) model->outputs.push_back(value.name());
  if (model->outputs.empty()) {
    return absl::InvalidArgumentError("the graph has no outputs");
  }
  return absl::OkStatus();
}

}  // namespace

ir::Expr MakeConstant(std::vector<int64_t> shape, DataType dtype, std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const auto* first = reinterpret_cast<const uint8_t*>(owner->data());
  return ir::Constant({std::move(shape), dtype}, {owner, first, owner->size()});
}

namespace {

absl::StatusOr<OnnxModel> ReadStream(google::protobuf::io::CodedInputStream* stream,
                                     const std::string& folder) {
  onnx::ModelProto proto;
  if (!proto.ParseFromCodedStream(stream) || !stream->ConsumedEntireMessage() ||
      !proto.has_graph()) {
    return absl::InvalidArgumentError(
        "expected an ONNX model, found bytes that are cut or of something else; export it again");
  }
  OnnxModel model;
  HONE_ASSIGN_OR_RETURN(model.opset, ReadOpset(proto));
  HONE_ASSIGN_OR_RETURN(model.functions, ReadFunctions(&proto, folder));
  for (auto& [name, function] : model.functions) {
    if (function.opset == 0) function.opset = model.opset;
  }
  HONE_RETURN_IF_ERROR(ReadGraph(proto.mutable_graph(), folder, &model));
  return model;
}

}  // namespace

absl::StatusOr<OnnxModel> ReadOnnxModel(std::string_view bytes, const std::string& folder) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  return ReadStream(&stream, folder);
}

absl::StatusOr<OnnxModel> ReadOnnxModelFile(const std::string& path, const std::string& folder) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InvalidArgumentError("the file cannot be read");
  constexpr int kBlock = 1 << 20;
  google::protobuf::io::IstreamInputStream blocks(&file, kBlock);
  google::protobuf::io::CodedInputStream stream(&blocks);
  return ReadStream(&stream, folder);
}

}  // namespace hone::frontend
