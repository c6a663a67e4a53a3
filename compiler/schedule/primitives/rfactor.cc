#include "compiler/schedule/primitives/rfactor.h"

#include <algorithm>
#include <vector>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

// A stage that is one reduction.
struct Reduction {
  Buffer buffer;
  std::vector<Stmt> axes;  // by dimension
  Stmt first;              // what is stored before
  std::vector<Stmt> loops;
  Expr condition;  // under which a step has a term; null: every one has
  Stmt store;
};

absl::StatusOr<Reduction> MatchReduction(const loop::Nest& nest, const Site& site) {
  const auto refuse = [&](const char* why) {
    return absl::FailedPreconditionError(
        fmt::format("the reduction of loop '{}' has no parts: {}", site.stmt->var->name, why));
  };
  const Stmt inside = loop::InsideLoops(nest.launches[site.launch].body);
  if (inside->kind != StmtKind::kSeq || inside->body.size() != 2 ||
      inside->body[0]->kind != StmtKind::kStore || inside->body[1]->kind != StmtKind::kFor) {
    return refuse("its stage is not a store and the loops of a reduction");
  }
  Reduction reduction;
  reduction.first = inside->body[0];
  reduction.buffer = reduction.first->buffer;
  HONE_ASSIGN_OR_RETURN(StageNest stage, MatchStage(nest, site.launch, reduction.buffer));
  reduction.axes = std::move(stage.loops);
  Stmt s = inside->body[1];
  for (; s->kind == StmtKind::kFor; s = s->body[0]) {
    if (!loop::IsZero(s->min) || !loop::IsConstInt(s->extent)) {
      return refuse("its loops have no constant bounds");
    }
    reduction.loops.push_back(s);
  }
  if (s->kind == StmtKind::kIf && s->body.size() == 1) {
    reduction.condition = s->condition;
    if (Loads(s->condition, reduction.buffer)) return refuse("its condition reads what it writes");
    const Stmt inside_if = s->body[0];
    s = inside_if;
  }
  reduction.store = s;
  if (s->kind != StmtKind::kStore || s->buffer != reduction.buffer || !loop::Accumulates(*s) ||
      !loop::NeutralOf(s->value->binary_op, s->buffer->dtype)) {
    return refuse("its body is not c[..] = c[..] op value of an operator with a neutral element");
  }
  if (Loads(s->value->operands[1], reduction.buffer)) {
    return refuse("its value reads what it writes");
  }
  return reduction;
}

Stmt SerialAround(const std::vector<Stmt>& loops, Stmt body) {
  for (size_t i = loops.size(); i-- > 0;) {
    body = loop::For(loops[i]->var, loops[i]->min, loops[i]->extent, std::move(body));
  }
  return body;
}

std::vector<Expr> VarsOf(const std::vector<Stmt>& loops) {
  std::vector<Expr> vars;
  for (const Stmt& loop : loops) vars.push_back(loop->var);
  return vars;
}

Buffer PartsBuffer(const loop::Nest& nest, const Buffer& buffer, int64_t parts) {
  std::vector<int64_t> shape = {parts};
  shape.insert(shape.end(), buffer->shape.begin(), buffer->shape.end());
  std::string name = buffer->name + ".parts";
  for (int again = 2; FindBuffer(nest, name).ok(); ++again) {
    name = fmt::format("{}.parts{}", buffer->name, again);
  }
  return loop::MakeBuffer(std::move(name), buffer->dtype, std::move(shape), loop::Role::kWorkspace);
}

// The loops of `body`, which have just been made, under names of `partial`'s.
Stmt Named(const loop::Nest& nest, const Reduction& reduction, const Buffer& partial, Stmt body) {
  const Stage whole(reduction.buffer->name), parts(partial->name);
  return loop::RenameFresh(std::move(body), [&](const std::string& old) {
    for (size_t d = 0; d < reduction.axes.size(); ++d) {
      if (reduction.axes[d]->var->name == old) {
        return UniqueLoopName(nest, parts.Axis(d + 1).name());
      }
    }
    return UniqueLoopName(nest, parts.Owns(old) ? old : whole.NameIn(parts, old));
  });
}

// Every part, in `partial`, from the value `start` on.
Stmt SumParts(const loop::Nest& nest, const Reduction& reduction, const Buffer& partial,
              const Expr& loop_var, const Expr& start) {
  const int64_t parts = partial->shape[0];
  const Expr part = loop::Var(Stage(partial->name).Axis(0).name());
  std::vector<Expr> at = VarsOf(reduction.axes);
  at.insert(at.begin(), part);
  const loop::BinaryOp op = reduction.store->value->binary_op;
  const Stmt zero = loop::Store(partial, at, start);
  Expr term = reduction.store->value->operands[1];
  Expr condition = reduction.condition;
  std::vector<Stmt> loops = reduction.loops;
  for (Stmt& loop : loops) {
    if (!loop->var.SameAs(loop_var)) continue;
    int64_t extent = 0;
    loop::IsConstInt(loop->extent, &extent);
    const int64_t each = extent / parts;
    const loop::VarMap in_part{{loop_var.get(), part * Expr(each) + loop_var}};
    term = loop::Substitute(term, in_part);
    if (condition) condition = loop::Substitute(condition, in_part);
    loop = loop::For(loop->var, 0, each, loop->body[0]);
  }
  Stmt add = loop::Store(partial, at, loop::Binary(op, loop::Load(partial, at), std::move(term)));
  if (condition) add = loop::If(condition, std::move(add));
  const Stmt sum = SerialAround(loops, std::move(add));
  const Stmt each_result = SerialAround(reduction.axes, loop::Seq({zero, sum}));
  return Named(nest, reduction, partial, loop::For(part, 0, parts, each_result));
}

Stmt CombineParts(const loop::Nest& nest, const Reduction& reduction, const Buffer& partial) {
  const Expr part =
      loop::Var(UniqueLoopName(nest, Stage(reduction.buffer->name).Partials().name()));
  const std::vector<Expr> at = reduction.first->indices;
  std::vector<Expr> from = VarsOf(reduction.axes);
  from.insert(from.begin(), part);
  const Stmt add =
      loop::Store(reduction.buffer, at,
                  loop::Binary(reduction.store->value->binary_op, loop::Load(reduction.buffer, at),
                               loop::Load(partial, from)));
  return SerialAround(reduction.axes,
                      loop::Seq({reduction.first, loop::For(part, 0, partial->shape[0], add)}));
}

}  // namespace

absl::StatusOr<Stage> Rfactor(loop::Nest* nest, const Loop& loop, int64_t parts,
                              bool starts_at_first) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  HONE_ASSIGN_OR_RETURN(const Reduction reduction, MatchReduction(*nest, site));
  const bool reduces = std::any_of(reduction.loops.begin(), reduction.loops.end(),
                                   [&](const Stmt& s) { return s->var.SameAs(site.stmt->var); });
  int64_t extent = 0;
  if (!reduces || !loop::IsConstInt(site.stmt->extent, &extent)) {
    return absl::FailedPreconditionError(
        fmt::format("expected a loop of a reduction, '{}' is one of its results", loop.name()));
  }
  if (parts < 1 || extent % parts != 0) {
    return absl::InvalidArgumentError(
        fmt::format("expected parts that divide the {} iterations of loop '{}', found {}", extent,
                    loop.name(), parts));
  }
  const loop::BinaryOp op = reduction.store->value->binary_op;
  const Expr& first_value = reduction.first->value;
  if (starts_at_first && (op != loop::BinaryOp::kAdd || !loop::IsZero(first_value))) {
    return absl::FailedPreconditionError(
        fmt::format("expected a sum that starts at zero, '{}' is none", reduction.buffer->name));
  }
  const Buffer partial = PartsBuffer(*nest, reduction.buffer, parts);
  const Expr neutral = loop::Const(*loop::NeutralOf(op, partial->dtype), partial->dtype);
  Stmt sums =
      SumParts(*nest, reduction, partial, site.stmt->var, starts_at_first ? first_value : neutral);
  loop::Launch& launch = nest->launches[site.launch];
  launch.body = CombineParts(*nest, reduction, partial);
  loop::Launch first{partial->name, launch.phase, std::move(sums)};
  nest->launches.insert(nest->launches.begin() + static_cast<ptrdiff_t>(site.launch),
                        std::move(first));
  InsertBuffer(nest, partial);
  return Stage(partial->name);
}

}  // namespace hone::schedule
