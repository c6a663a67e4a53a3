#include "compiler/schedule/dense/scaled_view.h"

#include <set>

#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {

using loop::Buffer;

namespace {

// The form of each launch; nullopt where one has another.
std::optional<std::vector<StageForm>> StagesOf(const loop::Nest& nest) {
  std::vector<StageForm> stages;
  for (const loop::Launch& launch : nest.launches) {
    stages.push_back(FormOf(launch));
    if (stages.back().buffer.empty()) return std::nullopt;
  }
  return stages;
}

// Those of the stages that `names` are made of, directly or not, with themselves.
std::set<std::string> Feeding(const loop::Nest& nest, const std::vector<StageForm>& stages,
                              std::set<std::string> names) {
  for (size_t i = stages.size(); i-- > 0;) {
    if (!names.contains(stages[i].buffer)) continue;
    for (const StageForm& stage : stages) {
      if (Loads(nest.launches[i].body, BufferOf(nest, stage.buffer))) names.insert(stage.buffer);
    }
  }
  return names;
}

const ops::OpStage* FindProduct(const ops::KernelDefinition& def) {
  const ops::OpStage* product = nullptr;
  for (const ops::OpStage& op : def.ops) {
    if (op.op == "nn.scaled_dense" && product == nullptr) {
      product = &op;
    } else if (op.kind > ops::FuseKind::kBroadcast) {
      return nullptr;
    }
  }
  return product;
}

bool AreParameters(const ops::KernelDefinition& def, const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    const Buffer buffer = BufferOf(def.naive, name);
    return buffer != nullptr &&
           (buffer->role == loop::Role::kConstant || buffer->role == loop::Role::kInput);
  });
}

// Sets which stages are the product's and which stand behind it.
bool ViewStages(const ops::KernelDefinition& def, ScaledDense* scaled) {
  const std::optional<std::vector<StageForm>> stages = StagesOf(def.naive);
  if (!stages) return false;
  AnchorView& view = scaled->dense.view;
  for (const StageForm& stage : *stages) {
    if (!stage.reduction) continue;
    scaled->data_sums.push_back(scaled->of_blocks);
    scaled->of_blocks = view.anchor;
    view.anchor = stage.buffer;
  }
  std::erase(scaled->data_sums, "");
  const std::set<std::string> own = Feeding(def.naive, *stages, {view.anchor});
  if (!own.contains(scaled->of_blocks)) return false;
  for (const StageForm& stage : *stages) {
    const std::string& name = stage.buffer;
    if (name == scaled->of_blocks || name == view.anchor || name == view.output) continue;
    (own.contains(name) ? scaled->data_stages : view.epilogue).push_back(name);
  }
  view.anchor_is_output = view.anchor == view.output;
  return BufferOf(def.naive, view.anchor)->shape == view.shape;
}

}  // namespace

std::optional<ScaledDense> ViewScaledDense(const ops::KernelDefinition& def) {
  const ops::OpStage* op = FindProduct(def);
  const std::vector<Buffer> outputs = OutputsOf(def.naive);
  if (op == nullptr || outputs.size() != 1 || !AreParameters(def, op->args)) return std::nullopt;
  ScaledDense scaled;
  Dense& dense = scaled.dense;
  dense.view.op = op;
  dense.view.output = outputs[0]->name;
  dense.view.shape = outputs[0]->shape;
  if (!ViewStages(def, &scaled)) return std::nullopt;
  if (dense.view.shape.back() < 2) return std::nullopt;  // no vectors
  const Buffer data = BufferOf(def.naive, op->args[0]);
  const Buffer weight = BufferOf(def.naive, op->args[1]);
  dense.data = data->name;
  dense.weight = weight->name;
  scaled.scales.assign(op->args.begin() + 2, op->args.end());
  const Buffer sums = BufferOf(def.naive, scaled.of_blocks);
  if (sums->dtype == DataType::kInt32) scaled.digits = sums->shape[0];
  dense.dot = scaled.digits > 0 ? 4 : 1;
  dense.rows = data->shape[0];
  dense.units = weight->shape[0];
  dense.terms = data->shape[1];
  dense.steps = dense.terms / dense.dot;
  dense.row_bytes = dense.terms * 4 / dense.dot;
  scaled.word_terms = dense.terms / weight->shape[1];
  scaled.block = dense.terms / BufferOf(def.naive, scaled.scales[0])->shape[1];
  scaled.part = scaled.block;
  for (const std::string& stage : scaled.data_stages) {
    const Buffer buffer = BufferOf(def.naive, stage);
    if (buffer->shape.size() == 4) scaled.part = buffer->shape[3];  // digits
  }
  if (scaled.block % dense.dot != 0) return std::nullopt;
  return scaled;
}

ScaledDense ScaledDenseOf(const Task& task) {
  ScaledDense scaled = *ViewScaledDense(*task.def);
  Dense& dense = scaled.dense;
  dense.machine = task.machine;
  dense.lanes = dense.machine.vector.FloatLanes();
  dense.stream_bytes = StreamBytesOf(task.micro_kernels.get(), task.machine);
  return scaled;
}

RegisterTileProblem TileProblemOf(const ScaledDense& scaled) {
  RegisterTileProblem problem = TileProblemOf(scaled.dense);
  // Each sum of a tile is as many as there are digits; some registers are for what is unpacked.
  constexpr int64_t kForUnpacking = 4;
  problem.registers =
      (problem.registers - kForUnpacking) / scaled.Accumulators() + (scaled.digits > 0);
  return problem;
}

}  // namespace hone::schedule
