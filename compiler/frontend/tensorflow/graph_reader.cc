#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <charconv>

#include "compiler/frontend/tensorflow/graph.h"
#include "compiler/frontend/tensorflow/tensor.h"
#include "hone/tensorflow/graph_def.pb.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

namespace proto = hone::tensorflow;

ShapeAttr ReadShape(const proto::TensorShape& shape) {
  ShapeAttr result;
  result.has_rank = !shape.unknown_rank();
  for (const proto::Dim& dim : shape.dim()) result.dims.push_back(dim.size());
  return result;
}

// Types that Hone does not have are an error only to those who need the tensor.
absl::StatusOr<Attr> ReadTensor(proto::TensorProto* tensor, Allowance& allowance) {
  absl::StatusOr<ir::Expr> constant = TakeTensor(tensor, allowance);
  if (constant.ok()) return Attr(*std::move(constant));
  if (!absl::IsUnimplemented(constant.status())) return constant.status();
  return Attr(UnreadAttr{std::string(constant.status().message())});
}

absl::StatusOr<Attr> ReadAttr(proto::AttrValue* value, Allowance& allowance) {
  using proto::AttrValue;
  switch (value->value_case()) {
    case AttrValue::kI:
      return Attr(static_cast<int64_t>(value->i()));
    case AttrValue::kF:
      return Attr(value->f());
    case AttrValue::kB:
      return Attr(value->b());
    case AttrValue::kS:
      return Attr(value->s());
    case AttrValue::kType:
      return Attr(TypeAttr{value->type()});
    case AttrValue::kShape:
      return Attr(ReadShape(value->shape()));
    case AttrValue::kList:
      return Attr(std::vector<int64_t>(value->list().i().begin(), value->list().i().end()));
    case AttrValue::kTensor:
      return ReadTensor(value->mutable_tensor(), allowance);
    case AttrValue::VALUE_NOT_SET:
      break;
  }
  return Attr(UnreadAttr{"a kind of value that Hone does not read"});
}

absl::StatusOr<Input> ReadInput(const std::string& text) {
  Input input;
  const size_t colon = text.rfind(':');
  input.node = text.substr(0, colon);
  if (colon == std::string::npos) return input;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, input.output);
  if (error == std::errc() && last == end) return input;
  return absl::InvalidArgumentError(
      fmt::format("an input of the form node:output was expected, found \"{}\"", text));
}

absl::StatusOr<Node> ReadNode(proto::NodeDef* def, Allowance& allowance) {
  Node node;
  node.name = def->name();
  node.op = def->op();
  for (const std::string& text : def->input()) {
    if (text.starts_with("^")) continue;
    HONE_ASSIGN_OR_RETURN(Input input, ReadInput(text));
    node.inputs.push_back(std::move(input));
  }
  for (auto& [name, value] : *def->mutable_attr()) {
    HONE_ASSIGN_OR_RETURN(Attr attr, ReadAttr(&value, allowance));
    node.attrs.emplace(name, std::move(attr));
  }
  return node;
}

}  // namespace

absl::StatusOr<Graph> ReadGraph(std::string_view bytes, Allowance& allowance) {
  proto::GraphDef def;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  const bool whole = def.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
  if (!whole || def.node().empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "expected an ONNX model or a frozen TensorFlow GraphDef, found {}; save the graph_def that "
        "convert_variables_to_constants_v2 gives",
        whole ? "a file without nodes, such as a SavedModel"
              : "bytes that are cut or of something else"));
  }
  Graph graph;
  for (const proto::FunctionDef& function : def.library().function()) {
    graph.functions.insert(function.signature().name());
  }
  for (proto::NodeDef& node_def : *def.mutable_node()) {
    absl::StatusOr<Node> node = ReadNode(&node_def, allowance);
    if (!node.ok()) {
      return absl::Status(node.status().code(),
                          fmt::format("node \"{}\" ({}): {}", node_def.name(), node_def.op(),
                                      std::string(node.status().message())));
    }
    graph.nodes.push_back(*std::move(node));
  }
  return graph;
}

}  // namespace hone::frontend::tf
