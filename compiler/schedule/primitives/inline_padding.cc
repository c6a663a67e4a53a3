#include "compiler/schedule/primitives/inline_padding.h"

#include <algorithm>
#include <memory>

#include "compiler/loop/linear.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;

namespace {

// A stage that surrounds data, seen along one axis.
struct Padding {
  Buffer buffer;  // as it was
  Buffer bare;    // of the data's extent along the axis
  size_t axis = 0;
  size_t launch = 0;
  StageNest stage;
  int64_t before = 0;    // positions in front of the data
  Expr inside;           // along the axis; of the loop's variable
  Expr inside_of_other;  // along the other axes; none: not known to be outside
};

void JoinByAnd(const Expr& part, Expr* all) { *all = *all ? loop::And(*all, part) : part; }

// Parts of the condition by whether they ask along the axis; false where one asks along two.
bool ShareCondition(const Expr& condition, Padding* padding) {
  for (const Expr& part : ConjunctsOf(condition)) {
    const bool along = loop::UsesVar(part, padding->stage.loops[padding->axis]->var);
    for (size_t d = 0; along && d < padding->stage.loops.size(); ++d) {
      if (d != padding->axis && loop::UsesVar(part, padding->stage.loops[d]->var)) return false;
    }
    JoinByAnd(part, along ? &padding->inside : &padding->inside_of_other);
  }
  return static_cast<bool>(padding->inside);
}

// The data is read at the loop's variable less a constant, along the axis alone.
bool ReadsPaddingAlong(const Expr& load, Padding* padding) {
  const Expr& var = padding->stage.loops[padding->axis]->var;
  for (size_t d = 0; d < load->operands.size(); ++d) {
    if (d != padding->axis && loop::UsesVar(load->operands[d], var)) return false;
  }
  loop::Linear rest = loop::Linear::Of(load->operands[padding->axis]);
  if (rest.CoefficientOf(var) != 1) return false;
  rest.AddTerm(var, -1);
  if (!rest.terms().empty()) return false;
  padding->before = -rest.constant();
  return true;
}

bool IsConstant(const Expr& e) { return e->kind == ExprKind::kFloat || e->kind == ExprKind::kInt; }

absl::StatusOr<Padding> Match(const loop::Nest& nest, const std::string& name, size_t axis) {
  Padding padding;
  padding.axis = axis;
  HONE_ASSIGN_OR_RETURN(padding.buffer, FindBuffer(nest, name));
  HONE_ASSIGN_OR_RETURN(padding.launch, WriterOf(nest, padding.buffer));
  HONE_ASSIGN_OR_RETURN(padding.stage, MatchStage(nest, padding.launch, padding.buffer));
  const absl::Status refused = absl::FailedPreconditionError(fmt::format(
      "'{}' must be a row-major workspace that surrounds data along axis {}", name, axis));
  const Expr& value = padding.stage.body->value;
  if (padding.buffer->role != loop::Role::kWorkspace || !padding.buffer->layout.IsRowMajor() ||
      padding.stage.body->kind != loop::StmtKind::kStore || value->kind != ExprKind::kSelect) {
    return refused;
  }
  const Expr& load = value->operands[1];
  if (axis >= padding.buffer->shape.size() || load->kind != ExprKind::kLoad ||
      load->operands.size() != padding.buffer->shape.size() || !IsConstant(value->operands[2]) ||
      !ReadsPaddingAlong(load, &padding) || !ShareCondition(value->operands[0], &padding)) {
    return refused;
  }
  auto bare = std::make_shared<loop::BufferNode>(*padding.buffer);
  bare->shape[axis] = load->buffer->shape[axis];
  padding.bare = std::move(bare);
  return padding;
}

class ReadBare : public loop::Mutator {
 public:
  explicit ReadBare(const Padding& padding) : padding_(padding) {}
  Expr Rewrite(const Expr& e) override {
    if (e->kind != ExprKind::kLoad || e->buffer != padding_.buffer) return RewriteChildren(e);
    const Expr load = RewriteChildren(e);
    std::vector<Expr> indices = load->operands;
    const Expr at = indices[padding_.axis];
    indices[padding_.axis] = at - padding_.before;
    const Expr& var = padding_.stage.loops[padding_.axis]->var;
    return loop::Select(loop::Substitute(padding_.inside, loop::VarMap{{var.get(), at}}),
                        loop::Load(padding_.bare, std::move(indices)),
                        padding_.stage.body->value->operands[2]);
  }
  Stmt Rewrite(const Stmt& s) override { return RewriteChildren(s); }

 private:
  const Padding& padding_;
};

Stmt BareStage(const Padding& padding) {
  const Expr& value = padding.stage.body->value;
  Expr filled = value->operands[1];
  if (padding.inside_of_other) {
    filled = loop::Select(padding.inside_of_other, filled, value->operands[2]);
  }
  const Expr& var = padding.stage.loops[padding.axis]->var;
  filled = loop::Substitute(filled, loop::VarMap{{var.get(), var + padding.before}});
  Stmt body = loop::Store(padding.bare, padding.stage.body->indices, filled);
  for (size_t d = padding.stage.loops.size(); d-- > 0;) {
    const Stmt& loop = padding.stage.loops[d];
    const Expr extent = d == padding.axis ? Expr(padding.bare->shape[d]) : loop->extent;
    body = loop::For(loop->var, loop->min, extent, std::move(body), loop->loop_kind);
  }
  return body;
}

}  // namespace

absl::Status InlinePadding(loop::Nest* nest, const Stage& stage, size_t axis) {
  HONE_ASSIGN_OR_RETURN(const Padding padding, Match(*nest, stage.buffer(), axis));
  ReadBare readers(padding);
  for (size_t i = 0; i < nest->launches.size(); ++i) {
    loop::Stmt& body = nest->launches[i].body;
    body = i == padding.launch ? BareStage(padding) : readers.Rewrite(body);
  }
  std::replace(nest->buffers.begin(), nest->buffers.end(), padding.buffer, padding.bare);
  return absl::OkStatus();
}

}  // namespace hone::schedule
