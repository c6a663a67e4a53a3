#include "compiler/ops/round_once.h"

#include <memory>
#include <utility>
#include <vector>

#include "compiler/loop/visit.h"

namespace hone::ops {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

constexpr DataType kWide = DataType::kFloat32;

// The store of a launch that is loops around one; null for others.
Stmt OnlyStore(const loop::Launch& launch) {
  const Stmt s = loop::InsideLoops(launch.body);
  return s->kind == StmtKind::kStore ? s : nullptr;
}

bool IsHalf(const Expr& e) {
  return e->dtype == DataType::kFloat16 || e->dtype == DataType::kBFloat16;
}

// Whether a 16-bit float is the outcome of arithmetic, and not of a choice of elements.
bool IsRounded(const Expr& e) {
  if (!IsHalf(e)) return false;
  switch (e->kind) {
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kCast:
      return true;
    case ExprKind::kSelect:
      return IsRounded(e->operands[1]) || IsRounded(e->operands[2]);
    default:
      return false;
  }
}

// Whether a 16-bit float is made of what kWide does not hold: by way of it, it would be rounded
// twice.
bool RoundsWider(const Expr& e) {
  if (e->kind != ExprKind::kCast || !IsHalf(e)) return false;
  const DataType from = e->operands[0]->dtype;
  return from == DataType::kFloat64 || (IsInteger(from) && SizeBytes(from) >= 4);
}

// Buffers that are rounded into, by what takes their place. Launches that stay as they are read and
// write none of them.
loop::BufferMap Widened(const loop::Nest& naive, const std::set<std::string>& kept) {
  loop::BufferMap widened;
  for (const loop::Launch& launch : naive.launches) {
    const Stmt store = OnlyStore(launch);
    if (!store || store->buffer->role != loop::Role::kWorkspace || !IsRounded(store->value) ||
        kept.contains(store->buffer->name)) {
      continue;
    }
    auto wide = std::make_shared<loop::BufferNode>(*store->buffer);
    wide->dtype = kWide;
    widened[store->buffer.get()] = std::move(wide);
  }
  for (const loop::Launch& launch : naive.launches) {
    if (OnlyStore(launch)) continue;
    loop::Walk(
        launch.body,
        [&](const Stmt& s) {
          if (s->kind == StmtKind::kStore) widened.erase(s->buffer.get());
          return true;
        },
        [&](const Expr& e) {
          if (e->kind == ExprKind::kLoad) widened.erase(e->buffer.get());
        });
  }
  return widened;
}

class Widening : public loop::Mutator {
 public:
  explicit Widening(const loop::BufferMap& widened) : widened_(widened) {}

  Expr Rewrite(const Expr& e) override {
    if (RoundsWider(e)) return RewriteChildren(e);
    if (IsRounded(e) || (IsHalf(e) && WideBuffer(e))) return loop::Cast(e->dtype, Wide(e));
    const bool widens = e->kind == ExprKind::kCast && e->dtype == kWide && IsHalf(e->operands[0]);
    return widens ? Wide(e->operands[0]) : RewriteChildren(e);
  }

  Stmt Rewrite(const Stmt& s) override {
    if (s->kind != StmtKind::kStore) return RewriteChildren(s);
    const auto found = widened_.find(s->buffer.get());
    if (found == widened_.end()) return RewriteChildren(s);
    return loop::Store(found->second, s->indices, Wide(s->value));
  }

 private:
  // What takes the place of the buffer that `e` loads from; null where nothing does.
  Buffer WideBuffer(const Expr& e) const {
    if (e->kind != ExprKind::kLoad) return nullptr;
    const auto found = widened_.find(e->buffer.get());
    return found == widened_.end() ? nullptr : found->second;
  }

  // A 16-bit float as it is before it is rounded.
  Expr Wide(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kFloat:
        return loop::FloatConst(e->float_value, kWide);
      case ExprKind::kLoad: {
        const Buffer wide = WideBuffer(e);
        if (wide == nullptr) return loop::Cast(kWide, RewriteChildren(e));
        std::vector<Expr> indices;
        for (const Expr& index : e->operands) indices.push_back(Rewrite(index));
        return loop::Load(wide, std::move(indices));
      }
      case ExprKind::kUnary:
        return loop::Unary(e->unary_op, Wide(e->operands[0]));
      case ExprKind::kBinary:
        return loop::Binary(e->binary_op, Wide(e->operands[0]), Wide(e->operands[1]));
      case ExprKind::kSelect:
        return loop::Select(Rewrite(e->operands[0]), Wide(e->operands[1]), Wide(e->operands[2]));
      case ExprKind::kCast: {
        const Expr& from = e->operands[0];
        if (IsHalf(from)) return Wide(from);
        return from->dtype == kWide ? Rewrite(from) : loop::Cast(kWide, Rewrite(from));
      }
      default:
        return loop::Cast(kWide, e);
    }
  }

  const loop::BufferMap& widened_;
};

}  // namespace

loop::Nest RoundOnce(const loop::Nest& naive, const std::set<std::string>& kept) {
  const loop::BufferMap widened = Widened(naive, kept);
  loop::Nest nest = naive;
  for (Buffer& buffer : nest.buffers) {
    const auto found = widened.find(buffer.get());
    if (found != widened.end()) buffer = found->second;
  }
  for (loop::Launch& launch : nest.launches) {
    if (OnlyStore(launch)) launch.body = Widening(widened).Rewrite(launch.body);
  }
  return nest;
}

}  // namespace hone::ops
