#include "compiler/loop/tile_operation.h"

#include <algorithm>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/machine/units.h"

namespace hone::loop {
namespace {

using machine::kAmxTile;

// The loops of an operation, outermost first, and what is inside; of a single step there is no
// loop of steps.
struct TileLoops {
  Stmt row, step, lane, dot;
  Stmt store;
};

// The steps of a loop that counts from zero; 0: another one.
int64_t StepsOf(const Stmt& s) {
  int64_t steps = 0;
  return IsInt(s->min, 0) && IsConstInt(s->extent, &steps) ? steps : 0;
}

bool IsLoop(const Stmt& s, LoopKind kind) {
  return s->kind == StmtKind::kFor && s->loop_kind == kind;
}

TileLoops LoopsOf(const Stmt& tile) {
  TileLoops loops;
  loops.row = tile;
  Stmt s = tile->body[0];
  if (IsLoop(s, LoopKind::kSerial)) {
    loops.step = s;
    s = s->body[0];
  }
  if (!IsLoop(s, LoopKind::kVectorize)) return {};
  loops.lane = s;
  s = s->body[0];
  if (IsLoop(s, LoopKind::kDot)) {
    loops.dot = s;
    s = s->body[0];
  }
  if (s->kind == StmtKind::kStore) loops.store = s;
  return loops;
}

// Where an element of the buffer lies, and how far that moves with each of the variables; nullopt
// where it does not move with one of them in steps.
std::optional<Linear> SteppingOffset(const Buffer& buffer, const std::vector<Expr>& indices,
                                     const std::vector<Expr>& variables, const Bounds& bounds) {
  Linear offset = LinearForm(PhysicalOffset(*buffer, indices, bounds), bounds);
  for (const Linear::Term& term : offset.terms()) {
    for (const Expr& var : variables) {
      if (!term.atom.SameAs(var) && UsesVar(term.atom, var)) return std::nullopt;
    }
  }
  return offset;
}

// Moves in rows of neighbours: with `row` by the stride, with `next` by `step` elements, with the
// variable of a dot product by one, and with no other of the loops.
bool IsOperand(const Expr& load, const TileLoops& loops, const Stmt& row, const Stmt& next,
               int64_t step, const Bounds& bounds, TileOperand* operand) {
  std::vector<Expr> variables;
  for (const Stmt& loop : {loops.row, loops.step, loops.lane, loops.dot}) {
    if (loop != nullptr) variables.push_back(loop->var);
  }
  const auto offset = SteppingOffset(load->buffer, load->operands, variables, bounds);
  if (!offset) return false;
  for (const Stmt& loop : {loops.row, loops.step, loops.lane, loops.dot}) {
    if (loop == nullptr || loop == row) continue;
    const int64_t expected = loop == loops.dot ? 1 : loop == next ? step : 0;
    if (offset->CoefficientOf(loop->var) != expected) return false;
  }
  operand->load = load;
  operand->stride = row == nullptr ? 0 : offset->CoefficientOf(row->var);
  return operand->stride >= 0;
}

// The loads a and b of c[i] = c[i] + a * b, if all are float32; else empty.
std::vector<Expr> SummedFloat32Factors(const Stmt& s) {
  const Expr& sum = s->value;
  if (s->buffer->dtype != DataType::kFloat32 || !IsBinary(sum, BinaryOp::kAdd) ||
      !Accumulates(*s) || !IsBinary(sum->operands[1], BinaryOp::kMul)) {
    return {};
  }
  const std::vector<Expr>& factors = sum->operands[1]->operands;
  const auto is_load = [](const Expr& factor) { return factor->kind == ExprKind::kLoad; };
  return std::ranges::all_of(factors, is_load) ? factors : std::vector<Expr>();
}

// The loads of the two factors of a sum of products whose steps have op->dot terms; else empty.
std::vector<Expr> FactorsOf(const TileLoops& loops, TileOperation* op) {
  if (loops.dot == nullptr) return SummedFloat32Factors(loops.store);
  std::vector<Expr> factors = SummedDotFactors(loops.store, loops.dot->var);
  if (factors.empty()) factors = SummedFloat16Factors(loops.store);
  if (factors.empty()) return {};
  const DataType dtype = factors[0]->dtype;
  op->dot = dtype == DataType::kFloat16 ? kFloat16Steps : DotSteps(dtype);
  return StepsOf(loops.dot) == op->dot ? factors : std::vector<Expr>();
}

bool IsProduct(const TileLoops& loops, const Bounds& bounds, TileOperation* op) {
  const std::vector<Expr> factors = FactorsOf(loops, op);
  if (factors.empty()) return false;
  op->steps = loops.step == nullptr ? 1 : StepsOf(loops.step);
  if (op->steps < 1 || op->steps > kAmxTile.rows) return false;
  for (const int left : {0, 1}) {
    if (!IsOperand(factors[left], loops, loops.row, loops.step, op->dot, bounds, &op->left)) {
      continue;
    }
    const Expr& right = factors[1 - left];
    if (IsOperand(right, loops, loops.step, loops.lane, op->dot, bounds, &op->right)) return true;
    op->right_has_lanes = true;
    if (IsOperand(right, loops, loops.lane, loops.step, op->dot, bounds, &op->right)) return true;
    op->right_has_lanes = false;
  }
  return false;
}

// Rows of the sums are whole tiles' lanes.
bool AreSums(const TileLoops& loops, const Bounds& bounds, TileOperation* op) {
  if (op->sums->scope != Scope::kTile || SizeBytes(op->sums->dtype) != 4) return false;
  std::optional<Linear> offset = SteppingOffset(op->sums, op->indices, op->variables, bounds);
  if (!offset) return false;
  for (const Stmt& loop : {loops.row, loops.step, loops.lane, loops.dot}) {
    if (loop == nullptr) continue;
    const int64_t coefficient = offset->CoefficientOf(loop->var);
    if (loop == loops.row) {
      op->sums_stride = coefficient;
    } else if (coefficient != (loop == loops.lane ? 1 : 0)) {
      return false;
    }
    offset->AddTerm(loop->var, -coefficient);
  }
  if (op->sums_stride < op->lanes || op->sums_stride % op->lanes != 0) return false;
  op->first = *std::move(offset);
  return true;
}

}  // namespace

std::optional<TileOperation> MatchTile(const Stmt& loop, const Bounds& outside) {
  const TileLoops loops = LoopsOf(loop);
  if (loops.store == nullptr) return std::nullopt;
  TileOperation op;
  op.lanes = StepsOf(loops.lane);
  if (op.lanes != kAmxTile.SumLanes() && op.lanes != kAmxTile.SumLanes() / 2) return std::nullopt;
  op.rows = StepsOf(loop);
  if (op.rows < 1 || op.rows > kAmxTile.rows) return std::nullopt;
  Bounds bounds = outside;
  for (const Stmt& l : {loops.row, loops.step, loops.lane, loops.dot}) {
    if (l == nullptr) continue;
    bounds.PushLoop(*l);
    op.variables.push_back(l->var);
  }
  const StmtNode& store = *loops.store;
  const bool stores = store.buffer->scope != Scope::kTile;
  if (stores && store.value->kind != ExprKind::kLoad) return std::nullopt;
  op.sums = stores ? store.value->buffer : store.buffer;
  op.indices = stores ? store.value->operands : store.indices;
  if (!AreSums(loops, bounds, &op)) return std::nullopt;
  const bool moves = loops.step == nullptr && loops.dot == nullptr;
  bool matches = false;
  if (stores) {
    op.kind = TileOperation::Kind::kStore;
    const Expr target = Load(store.buffer, store.indices);
    matches = moves && IsOperand(target, loops, loops.row, loops.lane, 1, bounds, &op.target);
    if (moves && !matches) {
      op.target_has_lanes = true;
      matches = IsOperand(target, loops, loops.lane, loops.row, 1, bounds, &op.target);
    }
  } else if (moves) {
    matches = IsZero(store.value);
  } else {
    op.kind = TileOperation::Kind::kMultiply;
    matches = IsProduct(loops, bounds, &op);
  }
  if (!matches) return std::nullopt;
  return op;
}

}  // namespace hone::loop
