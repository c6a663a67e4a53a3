#include "compiler/frontend/onnx/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "compiler/frontend/onnx/export_graph.h"
#include "compiler/ops/attrs.h"
#include "support/output_file.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr int kExportOpset = 17;
constexpr int kIrVersion = 8;

const ExporterTable& Exporters() {
  static const auto* const table = [] {
    auto* made = new ExporterTable();
    AddArrangeExporters(*made);
    AddElementwiseExporters(*made);
    AddMatrixExporters(*made);
    AddNormalizationExporters(*made);
    AddWindowExporters(*made);
    return made;
  }();
  return *table;
}

std::vector<ir::Expr> OutputsOf(const ir::ExprNode& main) {
  const ir::Expr& body = ir::Body(main);
  return body->kind == ir::ExprKind::kTuple ? body->args : std::vector<ir::Expr>{body};
}

std::vector<std::string> OutputNames(const ir::ExprNode& main, size_t count) {
  auto names = ops::StringsAttr(main.attrs, "output_names").value_or(std::vector<std::string>());
  if (names.size() == count) return names;
  names = {"output"};
  for (size_t i = 1; i < count; ++i) names.push_back(fmt::format("output_{}", i));
  return names;
}

// Adds `node` to the graph; what has no form in ONNX goes into `missing`.
void Write(const ir::Expr& node, ExportGraph& graph, std::set<std::string>* missing) {
  if (node->kind == ir::ExprKind::kVar || node->kind == ir::ExprKind::kTuple) return;
  if (node->kind == ir::ExprKind::kConstant) return;  // named by its first user
  if (node->kind != ir::ExprKind::kCall || node->callee) {
    missing->insert("calls of functions, let, if and items of tuples");
    return;
  }
  const std::string name = graph.Unique(node->name.substr(node->name.find('.') + 1));
  graph.Define(node, name);
  const auto it = Exporters().find(node->name);
  if (it == Exporters().end() || !it->second(graph, *node, name)) {
    missing->insert(node->name);
    return;
  }
  graph.Produced(node);
}

// Nodes nobody reads: an exporter may have looked through one.
void DropUnread(onnx::GraphProto* graph) {
  std::set<std::string> read;
  for (const onnx::ValueInfoProto& output : graph->output()) read.insert(output.name());
  google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
  for (int i = graph->node_size() - 1; i >= 0; --i) {
    onnx::NodeProto* node = graph->mutable_node(i);
    if (!read.contains(node->output(0))) continue;
    read.insert(node->input().begin(), node->input().end());
    kept.Add()->Swap(node);
  }
  std::reverse(kept.begin(), kept.end());
  graph->mutable_node()->Swap(&kept);
}

absl::Status WriteGraph(const ir::ExprNode& main, onnx::GraphProto* proto) {
  proto->set_name("main");
  ExportGraph graph(proto);
  graph.CountUses(ir::Body(main));
  for (const ir::Expr& param : ir::Params(main)) {
    graph.Define(param, param->name);
    graph.Reserve(param->name);
    HONE_RETURN_IF_ERROR(ExportGraph::DeclareType(param->name, *param->type, proto->add_input()));
  }
  const std::vector<ir::Expr> outputs = OutputsOf(main);
  const std::vector<std::string> names = OutputNames(main, outputs.size());
  for (const std::string& name : names) graph.Reserve(name);
  std::set<std::string> missing;
  for (const ir::Expr& node : ir::PostOrder(ir::Body(main))) Write(node, graph, &missing);
  if (!missing.empty()) {
    return absl::UnimplementedError(
        fmt::format("these operators have no form in ONNX here: {}", fmt::join(missing, ", ")));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!graph.RenameOutput(outputs[i], names[i])) {
      const std::string operand = graph.Operand(outputs[i], "constant");
      graph.AddNode("Identity", graph.Unique("output_copy"), {operand})->set_output(0, names[i]);
    }
    HONE_RETURN_IF_ERROR(
        ExportGraph::DeclareType(names[i], *outputs[i]->type, proto->add_output()));
  }
  DropUnread(proto);
  return absl::OkStatus();
}

absl::Status WriteModel(const ir::Module& module, onnx::ModelProto* model) {
  const auto main = module.functions.find("main");
  if (main == module.functions.end() || !ir::Body(*main->second)->type) {
    return absl::InvalidArgumentError("a module with a typed main was expected");
  }
  model->set_ir_version(kIrVersion);
  model->set_producer_name("hone");
  model->add_opset_import()->set_version(kExportOpset);
  HONE_RETURN_IF_ERROR(WriteGraph(*main->second, model->mutable_graph()));
  if (model->ByteSizeLong() >= (size_t{1} << 31)) {
    return absl::InvalidArgumentError("the model is larger than the 2 GiB of an ONNX file");
  }
  return absl::OkStatus();
}

// Protobuf's way into a file.
class FileStream : public google::protobuf::io::CopyingOutputStream {
 public:
  explicit FileStream(OutputFile* file) : file_(file) {}
  bool Write(const void* bytes, int size) override {
    status_ = file_->Write(std::string_view(static_cast<const char*>(bytes), size));
    return status_.ok();
  }
  const absl::Status& status() const { return status_; }

 private:
  OutputFile* file_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::string> ExportOnnxBytes(const ir::Module& module) {
  onnx::ModelProto model;
  HONE_RETURN_IF_ERROR(WriteModel(module, &model));
  return model.SerializeAsString();
}

// Without a second copy of the weights as one string.
absl::Status ExportOnnx(const ir::Module& module, const std::string& path) {
  onnx::ModelProto model;
  HONE_RETURN_IF_ERROR(WriteModel(module, &model));
  constexpr mode_t kMode = 0666;
  constexpr int kBlock = 1 << 20;
  HONE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, kMode));
  FileStream stream(&file);
  {
    google::protobuf::io::CopyingOutputStreamAdaptor adaptor(&stream, kBlock);
    model.SerializeToZeroCopyStream(&adaptor);
  }
  HONE_RETURN_IF_ERROR(stream.status());
  return file.Commit();
}

}  // namespace hone::frontend
