#include "compiler/schedule/product/view.h"

#include <algorithm>

#include "compiler/loop/operator_cost.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/product/sums.h"
#include "compiler/schedule/rewrite/fuse_stages.h"

namespace hone::schedule {

using loop::Buffer;

namespace {

// Whether each of the stages only loads.
bool OnlyLoads(const loop::Nest& nest, const std::vector<std::string>& stages) {
  for (const std::string& name : stages) {
    const absl::StatusOr<size_t> writer = WriterOf(nest, BufferOf(nest, name));
    if (!writer.ok()) return false;
    const loop::Stmt s = loop::InsideLoops(nest.launches[*writer].body);
    if (s->kind != loop::StmtKind::kStore || s->value->kind != loop::ExprKind::kLoad) return false;
  }
  return true;
}

// What `reads` says of the product past the stages before it, all but `kept`.
bool HoldsOfProduct(const ops::KernelDefinition& def, const AnchorView& view,
                    const std::string& kept,
                    bool (*reads)(const loop::Nest& nest, const Stage& sums)) {
  Sequence s(def.naive);
  const Stage anchor = FuseAroundAnchor(&s, view, kept);
  return s.ok() && reads(s.nest(), anchor);
}

// Sets whether terms are in order, with the data as it comes or after a copy.
void ViewTerms(const ops::KernelDefinition& def, Dense* dense) {
  const std::string kept = dense->copies_data ? dense->data : "";
  dense->terms_in_order = HoldsOfProduct(def, dense->view, kept, ReadsTermsInOrder);
  const auto& stages = dense->view.prologue;
  if (dense->terms_in_order || dense->copies_data ||
      std::find(stages.begin(), stages.end(), dense->data) == stages.end()) {
    return;
  }
  dense->copies_for_terms = HoldsOfProduct(def, dense->view, dense->data, ReadsTermsInOrder);
  dense->terms_in_order = dense->copies_for_terms;
}

int64_t CountFunctions(const loop::Nest& nest, const std::vector<std::string>& epilogue,
                       const std::string& output) {
  int64_t found = 0;
  for (const loop::Launch& launch : nest.launches) {
    const loop::Stmt s = loop::InsideLoops(launch.body);
    if (s->kind != loop::StmtKind::kStore) continue;
    const std::string& name = s->buffer->name;
    const bool behind =
        name == output || std::find(epilogue.begin(), epilogue.end(), name) != epilogue.end();
    if (!behind) continue;
    loop::Walk(s->value, [&](const loop::Expr& e) {
      found += loop::CostOfOperator(e) == loop::OperatorCost::kFunction ? 1 : 0;
    });
  }
  return found;
}

// This sets what stands before a product of float32 in stacks.
bool ViewOperands(const ops::KernelDefinition& def, const AnchorView& view, const Buffer& weight,
                  Dense* dense) {
  const bool computed = weight->role == loop::Role::kWorkspace;
  dense->moves = OnlyLoads(def.naive, view.prologue);
  if (!dense->moves) return !computed && view.prologue.back() == dense->data;
  dense->copies_data = false;
  dense->copies_weight = computed;
  dense->in_order =
      weight->role != loop::Role::kConstant && HoldsOfProduct(def, view, "", ReadsUnitsInOrder);
  return true;
}

}  // namespace

Loop Dense::Axis(const Stage& stage, int from_last) const {
  return stage.Axis(static_cast<size_t>(rank() - from_last));
}

char Dense::Letter(int from_last) const {
  return static_cast<char>(AxisLetters(rank())[static_cast<size_t>(rank() - from_last)] - 'A' +
                           'a');
}

Layout Dense::LayoutOf(const std::string& blocks) const {
  return *Layout::Parse(AxisLetters(rank()) + blocks, rank());
}

std::optional<Dense> ViewDense(const ops::KernelDefinition& def) {
  std::optional<AnchorView> view = ViewAnchor(def, {"nn.dense", "nn.batch_matmul"});
  if (!view) return std::nullopt;
  Dense dense;
  const Buffer weight = BufferOf(def.naive, view->op->args[1]);
  const Buffer data = BufferOf(def.naive, view->op->args[0]);
  const Buffer anchor = BufferOf(def.naive, view->anchor);
  if (weight == nullptr || data == nullptr || anchor == nullptr) return std::nullopt;
  const bool parameter =
      weight->role == loop::Role::kConstant || weight->role == loop::Role::kInput;
  const ProductKind kind = KindOfProduct(data, weight, anchor);
  dense.kind = kind;
  dense.dot = DotSteps(kind);
  dense.batched = view->op->op == "nn.batch_matmul";
  if (kind == ProductKind::kOther) return std::nullopt;
  dense.weight = weight->name;
  dense.data = data->name;
  dense.copies_data = !view->prologue.empty();
  if (dense.batched && kind == ProductKind::kFloat) {
    if (!ViewOperands(def, *view, weight, &dense)) return std::nullopt;
  } else if (!parameter || (dense.copies_data && view->prologue.back() != dense.data)) {
    return std::nullopt;
  }
  if (kind != ProductKind::kBytes) {
    dense.functions = CountFunctions(def.naive, view->epilogue, view->output);
  }
  const size_t rank = anchor->shape.size();
  if (dense.batched) dense.batch = anchor->shape[0];
  dense.rows = anchor->shape[rank - 2];
  dense.units = anchor->shape[rank - 1];
  dense.terms = weight->shape[rank - 1];
  dense.steps = CeilDiv(dense.terms, dense.dot);
  // Moves that are part of the reading leave the data where it comes from.
  const bool moved =
      !dense.copies_data && std::ranges::find(view->prologue, dense.data) != view->prologue.end();
  if (!moved) dense.row_bytes = dense.terms * (4 / dense.dot);
  dense.view = *std::move(view);
  if (kind == ProductKind::kFloat && weight->role != loop::Role::kConstant) ViewTerms(def, &dense);
  return dense;
}

Dense DenseOf(const Task& task) {
  Dense dense = *ViewDense(*task.def);
  dense.machine = task.machine;
  dense.lanes = dense.machine.vector.FloatLanes();
  if (dense.kind == ProductKind::kFloat) {
    dense.times = task.micro_kernels;
    dense.stream_bytes = StreamBytesOf(task.micro_kernels.get(), task.machine);
  }
  return dense;
}

RegisterTileProblem TileProblemOf(const Dense& dense) {
  RegisterTileProblem problem;
  problem.vectors = CeilDiv(dense.units, dense.lanes);
  problem.columns = dense.rows;
  problem.steps = dense.steps;
  problem.registers = dense.machine.vector.registers;
  problem.vector_bytes = dense.lanes * 4;
  problem.l2_bytes = dense.machine.memory.l2.size_bytes;
  problem.l2_bytes_a_cycle = dense.machine.memory.l2.read_bytes_a_cycle;
  problem.stream_bytes_a_cycle = dense.Reads().StreamRate();
  problem.issue = dense.machine.issue;
  problem.step_multiply_adds = StepMultiplyAdds(dense.machine.issue, dense.kind, dense.dot);
  problem.column_bytes = dense.row_bytes;
  problem.steps_at_once = dense.UnrollsAllTiles() ? kStepsAtOnce : 1;
  problem.times = dense.times;
  problem.l1_bytes = dense.machine.memory.l1.size_bytes;
  problem.threads = dense.machine.Threads();
  problem.grid = dense.batch;
  problem.shares_columns = true;
  return problem;
}

double ReadRightCycles(const Dense& dense) {
  return dense.Reads().CyclesOf(dense.batch * dense.units * dense.terms * 4 / dense.dot);
}

double FunctionCycles(const Dense& dense, int64_t vectors) {
  // Measured on Zen 5: of single results between products of 128 terms, 10 (tanh) and 22 (gelu).
  // Those wait for the sum, and what comes next for them, so the larger.
  constexpr double kCycles = 24;
  return kCycles * static_cast<double>(dense.functions * vectors);
}

}  // namespace hone::schedule
