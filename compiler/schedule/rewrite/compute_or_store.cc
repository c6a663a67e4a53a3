#include "compiler/schedule/rewrite/compute_or_store.h"

#include <algorithm>
#include <utility>

namespace hone::schedule {

using loop::Stmt;
using loop::StmtKind;

namespace {

// 1 for what is no loop, and for loops of unknown extent.
double TripsOf(const Stmt& s) {
  int64_t extent = 1;
  if (s->kind == StmtKind::kFor) loop::IsConstInt(s->extent, &extent);
  return static_cast<double>(extent);
}

double IterationsOf(const Stmt& s) {
  double most = 1;
  for (const Stmt& child : s->body) most = std::max(most, IterationsOf(child));
  return most * TripsOf(s);
}

// Elements of a stage that is computed within the loops of `s`, at most, over all iterations.
double ElementsComputed(const Stmt& s, const Stage& stage) {
  if (s->kind == StmtKind::kAlloc && s->buffer->name == stage.buffer()) {
    return static_cast<double>(s->buffer->layout.ElementCount(s->buffer->shape));
  }
  double elements = 0;
  for (const Stmt& child : s->body) elements += ElementsComputed(child, stage);
  return elements * TripsOf(s);
}

}  // namespace

double MostIterations(const loop::Nest& nest) {
  double most = 1;
  for (const loop::Launch& launch : nest.launches) {
    most = std::max(most, IterationsOf(launch.body));
  }
  return most;
}

bool ComputeUnlessMore(Sequence* s, const Stage& stage, const Loop& loop, double most_elements) {
  Sequence attempt = *s;
  attempt.ComputeAt(stage, loop);
  if (!attempt.ok()) return false;
  const Stmt& reader = attempt.nest().launches.back().body;
  if (ElementsComputed(reader, stage) > most_elements) return false;
  *s = std::move(attempt);
  return true;
}

}  // namespace hone::schedule
