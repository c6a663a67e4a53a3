#include "compiler/codegen/opencl/statement.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/codegen/opencl/conversion.h"
#include "compiler/codegen/opencl/flat_expr.h"
#include "compiler/loop/visit.h"

namespace hone::codegen::opencl {
namespace {

using loop::Expr;
using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;

bool IsOneStep(const CText& first, const CText& end) {
  return first.constant && end.constant && *end.constant - *first.constant == 1;
}

}  // namespace

void StatementWriter::Write(const Stmt& s) {
  if (!scope_.status.ok()) return;
  switch (s->kind) {
    case StmtKind::kFor:
      return WriteFor(s);
    case StmtKind::kStore:
      return WriteStore(s);
    case StmtKind::kSeq:
      for (const Stmt& child : s->body) Write(child);
      return;
    case StmtKind::kIf:
      return WriteIf(s);
    case StmtKind::kWhile:
      return WriteWhile(s);
    case StmtKind::kAlloc:
      return WriteAlloc(s);
    case StmtKind::kBarrier:
      lines_.Add("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
      return;
    case StmtKind::kCommit:  // copies are done when they are begun
      return;
    case StmtKind::kPrefetch:  // work items hide the time that memory takes
      return;
  }
}

CText StatementWriter::Declared(const std::string& word, const CText& value) {
  CText variable{.code = scope_.names.Fresh(word), .type = value.type};
  lines_.Add(fmt::format("const {} {} = {};", Name(value.type), variable.code, value.code));
  return variable;
}

void StatementWriter::WriteFor(const Stmt& s) {
  if (loop::BoundsOf(s->extent, bounds_).max <= 0) return;
  const Limits limits = WriteLimits(s);
  bounds_.PushLoop(*s);
  if (IsOneStep(limits.first, limits.end)) {
    scope_.variables.insert_or_assign(s->var.get(), limits.first);
    Write(s->body[0]);
  } else {
    WriteLoop(s, limits);
  }
  bounds_.Pop();
}

StatementWriter::Limits StatementWriter::WriteLimits(const Stmt& s) {
  Flattener flattener(bounds_);
  const Expr first = flattener.Value(s->min);
  const Expr end = flattener.Value(s->min + s->extent);
  ExpressionWriter writer(scope_, bounds_, lines_, {first, end});
  Limits limits{.first = writer.Write(first), .end = writer.Write(end)};
  // The loop may write what its end is loaded from.
  if (loop::HasLoad(end)) limits.end = Declared(s->var->name + "_end", limits.end);
  return limits;
}

void StatementWriter::WriteLoop(const Stmt& s, const Limits& limits) {
  const loop::Bounds::Variable* const known = bounds_.Find(s->var.get());
  const bool is_int = known != nullptr && FitsInt(known->interval) &&
                      limits.first.type <= CType::kInt && limits.end.type <= CType::kInt;
  const CText variable{.code = scope_.names.Fresh(s->var->name),
                       .type = is_int ? CType::kInt : CType::kLong};
  scope_.variables.insert_or_assign(s->var.get(), variable);
  if (s->loop_kind == LoopKind::kUnroll) lines_.Add("#pragma unroll");
  lines_.Open(fmt::format("for ({} {} = {}; {} < {}; ++{})", Name(variable.type), variable.code,
                          limits.first.code, variable.code, Inside(limits.end, Binds::kShift),
                          variable.code));
  Write(s->body[0]);
  lines_.Close();
}

void StatementWriter::WriteIf(const Stmt& s) {
  Flattener flattener(bounds_);
  const Expr condition = flattener.Value(s->condition);
  const bool has_else = s->body.size() > 1;
  if (condition->kind == loop::ExprKind::kInt) {
    if (condition->int_value != 0) return Write(s->body[0]);
    if (has_else) Write(s->body[1]);
    return;
  }
  const CText truth = ExpressionWriter(scope_, bounds_, lines_, {condition}).Write(condition);
  lines_.Open(fmt::format("if ({})", truth.code));
  WriteBranch(s->body[0], s->condition, true);
  if (has_else) {
    lines_.Else();
    WriteBranch(s->body[1], s->condition, false);
  }
  lines_.Close();
}

void StatementWriter::WriteBranch(const Stmt& branch, const Expr& condition, bool truth) {
  loop::Bounds outer = bounds_;
  bounds_.Assume(condition, truth);
  Write(branch);
  bounds_ = std::move(outer);
}

void StatementWriter::WriteWhile(const Stmt& s) {
  Flattener flattener(bounds_);
  const Expr condition = flattener.Value(s->condition);
  Lines before(lines_.depth() + 1);
  const CText truth = ExpressionWriter(scope_, bounds_, before, {condition}).Write(condition);
  if (before.empty()) {
    lines_.Open(fmt::format("while ({})", truth.code));
  } else {
    lines_.Open("while (true)");
    lines_.Append(before);
    lines_.Add(fmt::format("if (!{}) break;", Inside(truth, Binds::kUnary)));
  }
  Write(s->body[0]);
  lines_.Close();
}

void StatementWriter::WriteAlloc(const Stmt& s) {
  const loop::BufferNode& buffer = *s->buffer;
  if (buffer.scope == loop::Scope::kShared) return Write(s->body[0]);  // the kernel has declared it
  Storage storage{.name = scope_.names.Fresh(buffer.name),
                  .place = Storage::Place::kArray,
                  .elements = buffer.layout.ElementCount(buffer.shape)};
  const CType type = PrivateTypeOf(buffer.dtype);
  if (storage.elements <= 1) storage.place = Storage::Place::kScalar;
  const std::string extent =
      storage.place == Storage::Place::kArray ? fmt::format("[{}]", storage.elements) : "";
  lines_.Add(fmt::format("{} {}{};", Name(type), storage.name, extent));
  scope_.storage.insert_or_assign(&buffer, storage);
  Write(s->body[0]);
  scope_.storage.erase(&buffer);
}

void StatementWriter::WriteStore(const Stmt& s) {
  const loop::BufferNode& buffer = *s->buffer;
  const Storage* const found = scope_.Find(buffer);
  if (found == nullptr) return;
  const Storage storage = *found;
  Flattener flattener(bounds_);
  const Expr value = flattener.Value(s->value);
  const Expr offset = flattener.Offset(buffer, s->indices);
  ExpressionWriter writer(scope_, bounds_, lines_, {value, offset});
  const CText stored = writer.Write(value);
  if (storage.place == Storage::Place::kScalar) {
    lines_.Add(fmt::format("{} = {};", storage.name, stored.code));
    return;
  }
  const CText place = writer.Write(offset);
  if (storage.place == Storage::Place::kGlobal) {
    lines_.Add(StoreGlobal(storage.name, place, stored, buffer.dtype));
    return;
  }
  lines_.Add(fmt::format("{}[{}] = {};", storage.name, place.code, stored.code));
}

}  // namespace hone::codegen::opencl
