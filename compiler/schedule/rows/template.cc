// Reductions along the innermost axes, or one with a few elements behind it, alone or as the stages
// of a softmax, a normalisation or a search for the largest element: in one launch
// (rows/gathered.h), or of few results in parts (rows/parts.h). Other layouts and orders are the
// generic template's, whose configs are a strategy here.
#include <algorithm>
#include <set>

#include "compiler/loop/visit.h"
#include "compiler/schedule/generic/stages.h"
#include "compiler/schedule/rows/gathered.h"
#include "compiler/schedule/rows/parts.h"
#include "compiler/schedule/rows/view.h"
#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

bool HasFormOfRows(const ops::KernelDefinition& def) {
  const std::set<std::string> several = {"nn.softmax", "nn.log_softmax", "nn.layer_norm", "argmax",
                                         "argmin"};
  int reductions = 0;
  for (const ops::OpStage& op : def.ops) {
    if (op.kind <= ops::FuseKind::kInjective) continue;
    const bool reduces = op.kind == ops::FuseKind::kReduction || op.op.starts_with("nn.global_");
    if (!reduces && !several.contains(op.op)) return false;
    ++reductions;
  }
  const std::vector<Buffer> outputs = OutputsOf(def.naive);
  if (reductions != 1 || outputs.size() != 1) return false;
  return IsFloat(outputs[0]->dtype) || FindsPositions(def);
}

Reduction ReductionOf(const ops::KernelDefinition& def, int64_t threads) {
  return {GatherRows(def), PartsOfRows(def, threads)};
}

// Parts cost a launch more and what is between the two, a few microseconds. So that is where rows
// leave threads without work for a quarter of the time, and reading all of them takes longer.
bool PartsPay(const Reduction& ways, int64_t threads) {
  if (!ways.parts || !ways.rows) return ways.parts.has_value();
  constexpr int64_t kTerms = 1 << 17, kTermsOfPart = 1024;
  const RowParts& parts = *ways.parts;
  const int64_t shares = CeilDiv(parts.results, threads) * threads;
  return 4 * shares > 5 * parts.results && parts.terms >= kTerms &&
         parts.terms >= kTermsOfPart * parts.results * parts.options[0];
}

// The reductions whose results the kernel itself reads: their initialisation and update.
std::vector<Stmt> InnerReductions(const ops::KernelDefinition& def) {
  std::vector<Stmt> reductions;
  for (const loop::Launch& launch : def.naive.launches) {
    const Stmt body = loop::InsideLoops(launch.body);
    if (body->kind == StmtKind::kSeq && body->body[0]->kind == StmtKind::kStore &&
        body->body[0]->buffer->role != loop::Role::kOutput) {
      reductions.push_back(body);
    }
  }
  return reductions;
}

// Whether each channel has rows of its own, and channels are the last axis of the result that has
// more than one index: then they can be lanes.
bool ReducesWithinChannels(const Stmt& reduction) {
  const Stmt& first = reduction->body[0];
  Expr last;
  for (size_t d = 0; d < first->indices.size(); ++d) {
    if (first->buffer->shape[d] > 1) last = first->indices[d];
  }
  bool within = static_cast<bool>(last);
  loop::Walk(
      reduction->body[1], [](const Stmt&) { return true; },
      [&](const Expr& e) {
        if (e->kind != ExprKind::kLoad || e->buffer == first->buffer) return;
        within = within && (e->operands.size() < 3 || e->operands[1].SameAs(last));
      });
  return within;
}

// Whether all tensors that have pixels are in blocks of channels.
bool AllInBlocks(const ops::KernelDefinition& def, const ir::LayoutSignature& signature) {
  const auto fits = [](const Buffer& buffer, const Layout& layout) {
    const std::vector<int64_t>& shape = buffer->shape;
    return !layout.IsRowMajor() ||
           (shape.size() >= 2 && std::all_of(shape.begin() + 2, shape.end(),
                                             [](int64_t extent) { return extent == 1; }));
  };
  const std::vector<Buffer> inputs = InputsOf(def.naive);
  const std::vector<Buffer> outputs = OutputsOf(def.naive);
  return std::equal(inputs.begin(), inputs.end(), signature.operands.begin(), fits) &&
         std::equal(outputs.begin(), outputs.end(), signature.results.begin(), fits);
}

// Whether lanes are neighbours in all stages of a softmax or a normalisation: where all is
// row-major, or all in blocks of channels and nothing goes across these.
bool SuitsStages(const ops::KernelDefinition& def, const ir::LayoutSignature& signature) {
  const std::vector<Stmt> reductions = InnerReductions(def);
  if (reductions.empty() || AllRowMajor(signature)) return true;
  const auto moves = [](const ops::OpStage& op) { return op.kind == ops::FuseKind::kInjective; };
  return AllInBlocks(def, signature) && std::none_of(def.ops.begin(), def.ops.end(), moves) &&
         std::all_of(reductions.begin(), reductions.end(), ReducesWithinChannels);
}

// The strategies of reductions, the default by rule.
class RowsPlan final : public StrategiesPlan {
 public:
  explicit RowsPlan(const Task& task)
      : StrategiesPlan("stages"),
        problem_(std::make_shared<const Problem<Reduction>>(
            Problem<Reduction>{task, ReductionOf(*task.def, task.machine.Threads())})) {
    AddAll<Reduction>({{"rows", OpenGatheredRows}, {"parts", OpenRowParts}}, problem_);
    Add("stages", OpenStages(task));
  }

  std::vector<PricedConfig> Ranked() const override {
    if (PartsPay(problem_->kernel, problem_->task.machine.Threads())) return RankedOf("parts");
    return RankedOf(Has("rows") ? "rows" : "stages");
  }

 private:
  const std::shared_ptr<const Problem<Reduction>> problem_;
};

class RowsTemplateImpl : public Template {
 public:
  std::string_view name() const override { return "rows"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return HasFormOfRows(def) && ReductionOf(def, 1).any();
  }
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& machine) const override {
    std::vector<ir::LayoutSignature> signatures = GenericTemplate().Signatures(def, machine);
    std::erase_if(signatures, [&](const ir::LayoutSignature& signature) {
      return !SuitsStages(def, signature);
    });
    return signatures;
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    if (!AllRowMajor(task.signature)) return GenericTemplate().Open(task);
    return std::make_unique<RowsPlan>(task);
  }
};

}  // namespace

const Template& RowsTemplate() {
  static const RowsTemplateImpl instance;
  return instance;
}

}  // namespace hone::schedule
