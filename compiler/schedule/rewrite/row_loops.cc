#include "compiler/schedule/rewrite/row_loops.h"

#include <algorithm>
#include <bit>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

// Vectors of a row that a body may have, and be unrolled to.
constexpr int64_t kMostUnrolled = 16;

int64_t MostLanes(int64_t columns, const machine::Machine& machine) {
  const auto fit = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(columns)));
  return std::min<int64_t>(std::max<int64_t>(machine.vector.FloatLanes(), 2), fit);
}

std::vector<int64_t> VectorOptions(int64_t columns, int64_t lanes) {
  std::vector<int64_t> options;
  for (const int64_t vectors : {1, 2, 4, 8}) {
    if (vectors == 1 || vectors * lanes <= columns) options.push_back(vectors);
  }
  return options;
}

std::vector<std::string> PlaceOptions(int64_t columns, int64_t lanes) {
  if (CeilDiv(columns, lanes) <= kMostUnrolled) return {"registers", "loops"};
  return {"loops"};
}

void ScheduleColumns(Sequence* s, const Loop& loop, int64_t extent, int64_t lanes,
                     int64_t vectors) {
  const int64_t tile = lanes * vectors;
  s->Split(loop, tile, Tail::kClip, loop, loop.Tile());
  s->Split(loop.Tile(), lanes, Tail::kClip, loop.Vectors(), loop.Lanes());
  s->Simplify();
  if (extent % tile != 0) s->PeelAll(loop, 0, 1);
  if (extent % lanes != 0) s->PeelAll(loop.Vectors(), 0, 1);
  s->Simplify();
  s->VectorizeAll(loop.Lanes());
  s->UnrollAll(loop.Vectors());
}

}  // namespace

std::vector<loop::Stmt> InnermostLoops(const loop::Stmt& body) {
  std::vector<loop::Stmt> loops;
  loop::Walk(body, [&](const loop::Stmt& s) {
    if (s->kind == loop::StmtKind::kFor && s->body[0]->kind == loop::StmtKind::kStore &&
        s->loop_kind == loop::LoopKind::kSerial) {
      loops.push_back(s);
    }
    return true;
  });
  return loops;
}

bool ReadsAlong(const loop::Stmt& innermost, int64_t most_apart) {
  bool in_order = false;
  loop::Walk(innermost->body[0]->value, [&](const loop::Expr& e) {
    if (e->kind != loop::ExprKind::kLoad || e->operands.empty()) return;
    const size_t axis = InnermostAxis(e->buffer->layout, e->buffer->shape);
    in_order = in_order || loop::UsesVar(e->operands[axis], innermost->var);
    if (!e->buffer->layout.IsRowMajor()) return;
    int64_t apart = 1;
    for (size_t i = e->operands.size(); i-- > 0 && apart <= most_apart;) {
      in_order = in_order || loop::UsesVar(e->operands[i], innermost->var);
      apart *= e->buffer->shape[i];
    }
  });
  return in_order;
}

std::optional<Knob> NextRowKnob(int64_t columns, const machine::Machine& machine,
                                const Config& prefix) {
  const int64_t most = MostLanes(columns, machine);
  if (!prefix.Has("lanes")) {
    return IntKnob("lanes",
                   most >= 8 ? std::vector<int64_t>{most, most / 2} : std::vector<int64_t>{most});
  }
  const int64_t lanes = prefix.Int("lanes");
  if (!prefix.Has("row")) return TextKnob("row", PlaceOptions(columns, lanes));
  if (!prefix.Has("parts")) return IntKnob("parts", VectorOptions(columns, lanes));
  if (!prefix.Has("unroll")) return IntKnob("unroll", VectorOptions(columns, lanes));
  return std::nullopt;
}

void SetDefaultRow(int64_t columns, const machine::Machine& machine, Config* config) {
  const int64_t lanes = MostLanes(columns, machine);
  const std::vector<int64_t> vectors = VectorOptions(columns, lanes);
  config->Set("lanes", lanes);
  config->Set("row", PlaceOptions(columns, lanes)[0]);
  config->Set("parts", vectors[std::min<size_t>(2, vectors.size() - 1)]);
  config->Set("unroll", vectors[std::min<size_t>(2, vectors.size() - 1)]);
}

RowSchedule RowScheduleOf(const Config& config, bool drops_nan) {
  return {.lanes = config.Int("lanes"),
          .parts = config.Int("parts"),
          .unroll = config.Int("unroll"),
          .registers = config.String("row") == "registers",
          .drops_nan = drops_nan};
}

void ScheduleRowLoop(Sequence* s, const Loop& loop, const RowSchedule& row) {
  const absl::StatusOr<Site> site = FindLoop(s->nest(), loop);
  if (!site.ok()) return s->Fail(site.status());
  const loop::Stmt& found = site->stmt;
  int64_t extent = 0;
  loop::IsConstInt(found->extent, &extent);
  if (loop::Accumulates(*found->body[0])) {
    s->ReduceByLanes(loop, row.lanes, row.parts, row.drops_nan);
  } else {
    ScheduleColumns(s, loop, extent, std::min(row.lanes, extent), row.unroll);
  }
  if (row.registers && s->Has(loop)) s->UnrollAll(loop);
}

}  // namespace hone::schedule
