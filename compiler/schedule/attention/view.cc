#include "compiler/schedule/attention/view.h"

#include <algorithm>
#include <set>

#include "compiler/loop/visit.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/reshape.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using ops::OpStage;

struct Anchors {
  const OpStage* first = nullptr;
  const OpStage* softmax = nullptr;
  const OpStage* second = nullptr;
};

std::optional<Anchors> FindAnchors(const ops::KernelDefinition& def) {
  Anchors anchors;
  for (const OpStage& op : def.ops) {
    if (op.kind <= ops::FuseKind::kInjective) continue;
    const OpStage** place = nullptr;
    if (op.op == "nn.softmax") {
      place = &anchors.softmax;
    } else if (op.op == "nn.batch_matmul") {
      place = anchors.first == nullptr ? &anchors.first : &anchors.second;
    }
    if (place == nullptr || *place != nullptr) return std::nullopt;
    *place = &op;
  }
  if (anchors.second == nullptr || anchors.softmax == nullptr) return std::nullopt;
  return anchors;
}

// The operator that alone reads the value, once; else nullptr.
const OpStage* OnlyReader(const ops::KernelDefinition& def, const std::string& value) {
  const OpStage* reader = nullptr;
  for (const OpStage& op : def.ops) {
    for (const std::string& arg : op.args) {
      if (arg != value) continue;
      if (reader != nullptr) return nullptr;
      reader = &op;
    }
  }
  return reader;
}

// Whether the last axes are rows and keys.
bool HasRowsAndKeys(const loop::BufferNode& buffer, const loop::BufferNode& scores) {
  const size_t rank = buffer.shape.size();
  return rank >= 2 && buffer.dtype == DataType::kFloat32 &&
         buffer.shape[rank - 1] == scores.shape[2] && buffer.shape[rank - 2] == scores.shape[1];
}

// Whether `to` is what becomes of `from`, element by element and by reshapes, or by these alone.
bool Leads(const ops::KernelDefinition& def, std::string from, const OpStage& to, bool by_reshapes,
           const loop::BufferNode& scores) {
  for (const OpStage* op = OnlyReader(def, from); op != &to; op = OnlyReader(def, from)) {
    if (op == nullptr || op->results.size() != 1) return false;
    if (!ops::OnlyReshapes(op->op) && (by_reshapes || op->kind > ops::FuseKind::kBroadcast))
      return false;
    const Buffer before = BufferOf(def.naive, from);
    const Buffer after = BufferOf(def.naive, op->results[0]);
    if (before == nullptr || after == nullptr || !HasRowsAndKeys(*after, scores)) return false;
    if (!ops::OnlyReshapes(op->op) && after->shape != before->shape) return false;
    from = op->results[0];
  }
  return to.args[0] == from;
}

bool IsAlongKeys(const OpStage& softmax, int rank) {
  const int64_t axis = ops::IntAttr(softmax.attrs, "axis", -1);
  return axis == -1 || axis == rank - 1;
}

// The stages of the softmax stand before its result, in the order of its definition.
bool SetSoftmax(const ops::KernelDefinition& def, const OpStage& softmax, AttentionView* view) {
  view->weights = softmax.results[0];
  const std::vector<loop::Launch>& launches = def.naive.launches;
  const Buffer weights = BufferOf(def.naive, view->weights);
  if (weights == nullptr) return false;
  const absl::StatusOr<size_t> last = WriterOf(def.naive, weights);
  if (!last.ok() || *last < 4) return false;
  view->max = launches[*last - 4].name;
  view->exp = launches[*last - 3].name;
  view->total = launches[*last - 2].name;
  view->scale = launches[*last - 1].name;
  return true;
}

// Whether an operand is a parameter, or one whose elements are moved.
bool OnlyMoves(const ops::KernelDefinition& def, const std::string& operand) {
  const Buffer buffer = BufferOf(def.naive, operand);
  if (buffer == nullptr) return false;
  if (buffer->role != loop::Role::kWorkspace) return true;
  const absl::StatusOr<size_t> writer = WriterOf(def.naive, buffer);
  if (!writer.ok()) return false;
  const loop::Stmt s = loop::InsideLoops(def.naive.launches[*writer].body);
  return s->kind == loop::StmtKind::kStore && s->value->kind == loop::ExprKind::kLoad &&
         OnlyMoves(def, s->value->buffer->name);
}

bool SetShapes(const ops::KernelDefinition& def, const Anchors& anchors, AttentionView* view) {
  const Buffer scores = BufferOf(def.naive, view->scores);
  const Buffer sums = BufferOf(def.naive, view->sums);
  const Buffer keys = BufferOf(def.naive, view->keys);
  const Buffer values = BufferOf(def.naive, view->values);
  const Buffer logits = BufferOf(def.naive, view->logits);
  const std::vector<Buffer> outputs = OutputsOf(def.naive);
  if (outputs.size() != 1) return false;
  for (const Buffer& buffer : {scores, sums, keys, values, logits, outputs[0]}) {
    if (buffer == nullptr || buffer->dtype != DataType::kFloat32) return false;
  }
  view->output = outputs[0]->name;
  view->logits_rank = static_cast<int>(logits->shape.size());
  view->heads = scores->shape[0];
  view->rows = scores->shape[1];
  view->key_count = scores->shape[2];
  view->depth = keys->shape[2];
  view->units = sums->shape[2];
  return sums->shape[0] == view->heads && outputs[0]->shape == sums->shape &&
         HasRowsAndKeys(*logits, *scores) && IsAlongKeys(*anchors.softmax, view->logits_rank) &&
         view->heads * view->rows * view->key_count * view->depth * view->units > 0;
}

// All that is no stage of its own must be of a kind that can be inlined.
bool SetInlined(const ops::KernelDefinition& def, AttentionView* view) {
  const std::set<std::string> kept = {view->keys,    view->values, view->scores, view->logits,
                                      view->max,     view->exp,    view->total,  view->scale,
                                      view->weights, view->sums,   view->output};
  loop::Nest nest = def.naive;
  for (const loop::Launch& launch : def.naive.launches) {
    if (kept.contains(launch.name)) continue;
    if (!InlineStage(&nest, Stage(launch.name)).ok()) return false;
    view->inlined.push_back(launch.name);
  }
  return true;
}

}  // namespace

std::optional<AttentionView> ViewAttention(const ops::KernelDefinition& def) {
  const std::optional<Anchors> anchors = FindAnchors(def);
  if (!anchors) return std::nullopt;
  AttentionView view;
  view.keys = anchors->first->args[1];
  view.values = anchors->second->args[1];
  view.scores = anchors->first->results[0];
  view.sums = anchors->second->results[0];
  view.logits = anchors->softmax->args[0];
  const Buffer scores = BufferOf(def.naive, view.scores);
  if (scores == nullptr || view.keys == view.values || !SetShapes(def, *anchors, &view) ||
      !SetSoftmax(def, *anchors->softmax, &view) ||
      !Leads(def, view.scores, *anchors->softmax, false, *scores) ||
      !Leads(def, view.weights, *anchors->second, true, *scores) ||
      !OnlyMoves(def, anchors->first->args[0]) || !SetInlined(def, &view)) {
    return std::nullopt;
  }
  view.moves_keys = OnlyMoves(def, view.keys);
  view.moves_values = OnlyMoves(def, view.values);
  return view;
}

}  // namespace hone::schedule
