#include "compiler/loop/reference.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/loop/visit.h"

namespace hone::loop {
namespace {

constexpr DataType kF64 = DataType::kFloat64;

Expr Real(double value) { return FloatConst(value, kF64); }
Expr Call(UnaryOp op, const Expr& a) { return Unary(op, a); }
Expr Abs(const Expr& a) { return Call(UnaryOp::kAbs, a); }
Expr Sqrt(const Expr& a) { return Call(UnaryOp::kSqrt, a); }
Expr Div(const Expr& a, const Expr& b) { return Binary(BinaryOp::kDiv, a, b); }
Expr Pow(const Expr& a, const Expr& b) { return Binary(BinaryOp::kPow, a, b); }

// Bounds are at least so many 2^-24 of a magnitude.
constexpr double kLeastBound = 17;
// A magnitude that lets a whole step pass.
constexpr double kStep = 0x1p20;
// How far from a jump, in magnitudes, rounding may still bring a value to its other side; at least,
// and where that is more, what the error bound allows.
constexpr double kNearJump = 0x1p-14;
// Likewise of the operands of a maximum.
constexpr double kNearExtreme = 0x1p-10;

// What rounding to the type may do to a value, in units of it, relative.
double RoundingOf(DataType dtype) {
  if (dtype == DataType::kBFloat16) return 0x1p-8;
  if (dtype == DataType::kFloat16) return 0x1p-11;
  return 0;  // that of float32 is what bounds are made of
}

// Whether the result is exact in the type of the operand.
bool IsExact(UnaryOp op) {
  switch (op) {
    case UnaryOp::kNeg:
    case UnaryOp::kAbs:
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kRound:
    case UnaryOp::kSign:
      return true;
    default:
      return false;
  }
}

// Whether an expression rounds its result to its type.
bool Rounds(const ExprNode& e) {
  switch (e.kind) {
    case ExprKind::kUnary:
      return !IsExact(e.unary_op);
    case ExprKind::kBinary:
      return e.binary_op != BinaryOp::kMin && e.binary_op != BinaryOp::kMax;
    case ExprKind::kCast:
      return e.operands[0]->dtype != e.dtype;
    default:
      return false;
  }
}

// kStep where x is so near a jump of `op`; null for operators without jumps.
Expr JumpMagnitude(UnaryOp op, const Expr& x, const Expr& magnitude, double unit) {
  Expr distance;
  if (op == UnaryOp::kRound) {
    distance = Abs(x - Call(UnaryOp::kFloor, x) - Real(0.5));
  } else if (op == UnaryOp::kFloor || op == UnaryOp::kCeil) {
    distance = Abs(x - Call(UnaryOp::kRound, x));
  } else {
    return Expr();
  }
  return Select(Le(distance, magnitude * Real(std::max(kNearJump, unit))), Real(kStep), Real(0));
}

// A sum of which either may be null.
Expr SumOf(const Expr& a, const Expr& b) { return !a ? b : !b ? a : a + b; }

// A float64 value and its magnitude.
struct Pair {
  Expr value;
  Expr magnitude;
};

// |f'(x)| of f at x, where y = f(x); null where the derivative plays no part (jumps).
Expr Slope(UnaryOp op, const Expr& x, const Expr& y, const Expr& magnitude) {
  const Expr one = Real(1);
  const Expr tiny = Real(1e-12);
  switch (op) {
    case UnaryOp::kSqrt:
      return Div(one, Sqrt(Max(Max(Abs(x), magnitude * Real(0x1p-24)), Real(1e-30))));
    case UnaryOp::kRsqrt:
      return Abs(Div(y, Max(Abs(x), Real(1e-30))));
    case UnaryOp::kExp:
      return y;
    case UnaryOp::kExpm1:
      return Abs(y + one);
    case UnaryOp::kLog:
      return Div(one, Max(Abs(x), Real(1e-30)));
    case UnaryOp::kLog1p:
      return Div(one, Max(Abs(x + one), Real(1e-30)));
    case UnaryOp::kTanh:
      return one - y * y;
    case UnaryOp::kErf:
      return Call(UnaryOp::kExp, Call(UnaryOp::kNeg, x * x)) * Real(2 / std::sqrt(M_PI));
    case UnaryOp::kSigmoid:
      return y * (one - y);
    case UnaryOp::kSin:
    case UnaryOp::kCos:
      return one;
    case UnaryOp::kTan:
      return one + y * y;
    case UnaryOp::kAsin:
    case UnaryOp::kAcos:
      return Div(one, Sqrt(Max(one - x * x, tiny)));
    case UnaryOp::kAtan:
      return Div(one, one + x * x);
    case UnaryOp::kSinh:
      return Call(UnaryOp::kCosh, x);
    case UnaryOp::kCosh:
      return Abs(Call(UnaryOp::kSinh, x));
    case UnaryOp::kAsinh:
      return Div(one, Sqrt(one + x * x));
    case UnaryOp::kAcosh:
      return Div(one, Sqrt(Max(x * x - one, tiny)));
    case UnaryOp::kAtanh:
      return Div(one, Max(Abs(one - x * x), tiny));
    default:
      return Expr();
  }
}

class Doubler {
 public:
  explicit Doubler(double error_bound) : unit_(error_bound * 0x1p-24) {}

  // Float buffers of the nest itself become pairs of float64 buffers; `role` is that of both.
  void AddPair(const Buffer& buffer, Role role) {
    auto value = std::make_shared<BufferNode>(*buffer);
    value->dtype = kF64;
    value->role = role;
    value->layout = Layout::RowMajor(static_cast<int>(buffer->shape.size()));
    auto magnitude = std::make_shared<BufferNode>(*value);
    magnitude->name += ".magnitude";
    pairs_[buffer.get()] = {std::move(value), std::move(magnitude)};
  }
  // Integer outputs: computed in a workspace of their own type.
  void Replace(const Buffer& from, Buffer to) { exact_[from.get()] = std::move(to); }

  // Integers that rounded floats are made into: `slack` bounds by how much they can be off, as a
  // magnitude does.
  void AddSlack(const Buffer& buffer, Buffer slack) { slack_[buffer.get()] = std::move(slack); }
  Buffer SlackOf(const Buffer& buffer) const {
    const auto it = slack_.find(buffer.get());
    return it == slack_.end() ? nullptr : it->second;
  }

  const std::pair<Buffer, Buffer>& PairOf(const Buffer& buffer) const {
    return pairs_.at(buffer.get());
  }

  Stmt Run(const Stmt& s) {
    if (s->kind == StmtKind::kStore) return RunStore(*s);
    if (s->kind == StmtKind::kAlloc && IsFloat(s->buffer->dtype)) {
      AddPair(s->buffer, s->buffer->role);
      const auto& [value, magnitude] = PairOf(s->buffer);
      return Alloc(value, Alloc(magnitude, Run(s->body[0])));
    }
    if (s->kind == StmtKind::kPrefetch) return Seq({});
    auto node = std::make_shared<StmtNode>(*s);
    if (node->min) node->min = Exact(node->min);
    if (node->extent) node->extent = Exact(node->extent);
    if (node->condition) node->condition = Exact(node->condition);
    for (Stmt& child : node->body) child = Run(child);
    if (s->kind == StmtKind::kSeq) return Seq(std::move(node->body));
    return node;
  }

 private:
  Stmt RunStore(const StmtNode& s) {
    std::vector<Expr> indices = ExactAll(s.indices);
    if (!IsFloat(s.buffer->dtype)) {
      const Stmt store = Store(Exact(s.buffer), indices, Exact(s.value));
      const Buffer slack = SlackOf(s.buffer);
      if (!slack) return store;
      const Expr value = Slack(s.value);
      return Seq({Store(slack, indices, value ? value : Real(0)), store});
    }
    const auto& [value, magnitude] = PairOf(s.buffer);
    // Rounding to an output's type is in what the output check allows.
    const Pair pair = s.buffer->role == Role::kOutput ? FloatInner(s.value) : Float(s.value);
    // The magnitude may read the old value, the value never reads a magnitude.
    return Seq({Store(magnitude, indices, pair.magnitude), Store(value, indices, pair.value)});
  }

  Buffer Exact(const Buffer& buffer) const {
    const auto it = exact_.find(buffer.get());
    return it == exact_.end() ? buffer : it->second;
  }
  std::vector<Expr> ExactAll(const std::vector<Expr>& exprs) {
    std::vector<Expr> result;
    for (const Expr& e : exprs) result.push_back(Exact(e));
    return result;
  }

  // An integer or bool expression; floats inside it (compared, cast) are taken in float64.
  Expr Exact(const Expr& e) {
    const auto operand = [&](size_t i) {
      return IsFloat(e->operands[i]->dtype) ? Float(e->operands[i]).value : Exact(e->operands[i]);
    };
    switch (e->kind) {
      case ExprKind::kLoad:
        return Load(Exact(e->buffer), ExactAll(e->operands));
      case ExprKind::kUnary:
        return Unary(e->unary_op, operand(0));
      case ExprKind::kBinary:
        return Binary(e->binary_op, operand(0), operand(1));
      case ExprKind::kSelect:
        return Select(operand(0), operand(1), operand(2));
      case ExprKind::kCast:
        return Cast(e->dtype, operand(0));
      default:
        return e;
    }
  }

  // The slack of an integer expression; null: it is exact.
  Expr Slack(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kLoad: {
        const Buffer slack = SlackOf(e->buffer);
        return slack ? Load(slack, ExactAll(e->operands)) : Expr();
      }
      case ExprKind::kCast: {
        if (!IsFloat(e->operands[0]->dtype)) return Slack(e->operands[0]);
        const Expr magnitude = Float(e->operands[0]).magnitude;
        return Select(Le(Real(kStep), magnitude), magnitude, Real(0));
      }
      case ExprKind::kUnary:
        return IsFloat(e->operands[0]->dtype) ? Expr() : Slack(e->operands[0]);
      case ExprKind::kBinary:
        return IsFloat(e->operands[0]->dtype) ? Expr() : BinarySlack(e);
      case ExprKind::kSelect: {
        const Expr then = Slack(e->operands[1]);
        const Expr otherwise = Slack(e->operands[2]);
        if (!then && !otherwise) return Expr();
        return Select(Exact(e->operands[0]), then ? then : Real(0),
                      otherwise ? otherwise : Real(0));
      }
      default:
        return Expr();
    }
  }

  Expr BinarySlack(const Expr& e) {
    Expr a = Slack(e->operands[0]);
    Expr b = Slack(e->operands[1]);
    if (e->binary_op == BinaryOp::kMul) {
      const auto size = [&](size_t i) { return Abs(Cast(kF64, Exact(e->operands[i]))); };
      if (a) a = a * size(1);
      if (b) b = b * size(0);
    }
    return SumOf(a, b);
  }

  Pair Float(const Expr& e) {
    const auto it = done_.find(e.get());
    if (it != done_.end()) return it->second;
    Pair pair = FloatInner(e);
    if (const double rounding = Rounds(*e) ? RoundingOf(e->dtype) : 0; rounding > 0) {
      pair.magnitude = pair.magnitude + Abs(pair.value) * Real(rounding / unit_);
    }
    done_[e.get()] = pair;
    return pair;
  }

  Pair FloatInner(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kFloat:
        return {Real(e->float_value), Real(std::abs(e->float_value))};
      case ExprKind::kLoad:
        return FloatLoad(*e);
      case ExprKind::kUnary:
        return FloatUnary(e->unary_op, Float(e->operands[0]));
      case ExprKind::kBinary:
        return FloatBinary(e->binary_op, Float(e->operands[0]), Float(e->operands[1]));
      case ExprKind::kSelect: {
        const Expr condition = Exact(e->operands[0]);
        const Pair then = Float(e->operands[1]);
        const Pair otherwise = Float(e->operands[2]);
        return {Select(condition, then.value, otherwise.value),
                Select(condition, then.magnitude, otherwise.magnitude)};
      }
      default: {  // kCast
        if (IsFloat(e->operands[0]->dtype)) return Float(e->operands[0]);
        const Expr value = Cast(kF64, Exact(e->operands[0]));
        return {value, SumOf(Abs(value), Slack(e->operands[0]))};
      }
    }
  }

  Pair FloatLoad(const ExprNode& e) {
    const std::vector<Expr> indices = ExactAll(e.operands);
    const auto it = pairs_.find(e.buffer.get());
    if (it != pairs_.end()) {
      return {Load(it->second.first, indices), Load(it->second.second, indices)};
    }
    const Expr value = Cast(kF64, Load(e.buffer, indices));
    return {value, Abs(value)};
  }

  Pair FloatUnary(UnaryOp op, const Pair& a) const {
    const Expr value = Unary(op, a.value);
    if (op == UnaryOp::kNeg || op == UnaryOp::kAbs) return {value, a.magnitude};
    if (const Expr jump = JumpMagnitude(op, a.value, a.magnitude, unit_)) {
      return {value, Abs(value) + a.magnitude + jump};
    }
    const Expr slope = Slope(op, a.value, value, a.magnitude);
    return {value, slope ? Abs(value) + a.magnitude * slope : Abs(value) + a.magnitude};
  }

  // The magnitude of an operand of max (side 1) or min (side -1) where rounding could make it the
  // result; else 0: the -inf that a maximum starts from must not count.
  Expr IfNear(const Pair& operand, const Expr& result, int side) const {
    const double near = std::max(kNearExtreme, unit_);
    const Expr reach = operand.value + operand.magnitude * Real(side * near);
    const Expr is_near = side > 0 ? Ge(reach, result) : Le(reach, result);
    return Select(is_near, operand.magnitude, Real(0));
  }

  Pair FloatBinary(BinaryOp op, const Pair& a, const Pair& b) const {
    const Expr value = Binary(op, a.value, b.value);
    const Expr divisor = Max(Abs(b.value), Real(1e-300));
    switch (op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
        return {value, a.magnitude + b.magnitude};
      case BinaryOp::kMul:
        return {value, a.magnitude * b.magnitude};
      case BinaryOp::kMin:
        return {value, Max(IfNear(a, value, -1), IfNear(b, value, -1))};
      case BinaryOp::kMax:
        return {value, Max(IfNear(a, value, 1), IfNear(b, value, 1))};
      case BinaryOp::kPow: {
        const Expr by_base = Abs(b.value * Pow(a.value, b.value - Real(1)));
        const Expr log = Call(UnaryOp::kLog, Max(Abs(a.value), Real(1e-300)));
        return {value, Abs(value) + a.magnitude * by_base + b.magnitude * Abs(value * log)};
      }
      default:  // kDiv, and what is made of a quotient
        return {value, Div(a.magnitude + Div(Abs(a.value) * b.magnitude, divisor), divisor)};
    }
  }

  const double unit_;  // what may be wrong of a magnitude of 1
  absl::flat_hash_map<const BufferNode*, std::pair<Buffer, Buffer>> pairs_;
  absl::flat_hash_map<const BufferNode*, Buffer> exact_;
  absl::flat_hash_map<const BufferNode*, Buffer> slack_;
  absl::flat_hash_map<const ExprNode*, Pair> done_;  // keys live as long as the naive nest
};

// to[...] = value(from[...]) over the whole shape.
Launch Fill(const Buffer& to, const std::function<Expr(const std::vector<Expr>&)>& value) {
  std::vector<Expr> axes;
  for (size_t d = 0; d < to->shape.size(); ++d) {
    axes.push_back(Var(to->name + ".i" + std::to_string(d)));
  }
  Stmt body = Store(to, axes, value(axes));
  for (size_t d = axes.size(); d-- > 0;) body = For(axes[d], 0, Expr(to->shape[d]), body);
  return {to->name, Phase::kRun, std::move(body)};
}

// Whether a statement stores integers made of floats, or of buffers of `rounded`.
bool StoresRounded(const Stmt& s, const absl::flat_hash_set<const BufferNode*>& rounded) {
  if (s->kind != StmtKind::kStore || !IsInteger(s->buffer->dtype)) return false;
  bool found = false;
  Walk(s->value, [&](const Expr& e) {
    const bool cast = e->kind == ExprKind::kCast && IsFloat(e->operands[0]->dtype);
    const bool load = e->kind == ExprKind::kLoad && rounded.contains(e->buffer.get());
    found = found || (cast && !IsFloat(e->dtype)) || load;
  });
  return found;
}

// In the order of the launches.
absl::flat_hash_set<const BufferNode*> RoundedBuffers(const Nest& nest) {
  absl::flat_hash_set<const BufferNode*> rounded;
  for (const Launch& launch : nest.launches) {
    Walk(launch.body, [&](const Stmt& s) {
      if (StoresRounded(s, rounded)) rounded.insert(s->buffer.get());
      return true;
    });
  }
  return rounded;
}

}  // namespace

Nest ReferenceNest(const Nest& naive, double error_bound) {
  Doubler doubler(std::max(error_bound, kLeastBound));
  Nest reference;
  reference.name = naive.name + ".reference";
  std::vector<Buffer> outputs;
  std::vector<std::pair<Buffer, Buffer>> exact_outputs;  // of an integer type; its float64 copy
  const absl::flat_hash_set<const BufferNode*> rounded = RoundedBuffers(naive);
  for (const Buffer& buffer : naive.buffers) {
    if (rounded.contains(buffer.get())) {
      auto slack = std::make_shared<BufferNode>(*buffer);
      slack->name += ".slack";
      slack->dtype = kF64;
      slack->role = Role::kWorkspace;
      reference.buffers.push_back(slack);
      doubler.AddSlack(buffer, slack);
    }
    if (buffer->role == Role::kInput || buffer->role == Role::kConstant) {
      reference.buffers.push_back(buffer);
      continue;
    }
    const bool output = buffer->role == Role::kOutput;
    if (!IsFloat(buffer->dtype) && !output) {
      reference.buffers.push_back(buffer);
      continue;
    }
    doubler.AddPair(buffer, output ? Role::kOutput : Role::kWorkspace);
    const auto& [value, magnitude] = doubler.PairOf(buffer);
    std::vector<Buffer>& list = output ? outputs : reference.buffers;
    list.push_back(value);
    list.push_back(magnitude);
    if (!IsFloat(buffer->dtype)) {
      auto exact = std::make_shared<BufferNode>(*buffer);
      exact->name += ".exact";
      exact->role = Role::kWorkspace;
      reference.buffers.push_back(exact);
      doubler.Replace(buffer, exact);
      exact_outputs.emplace_back(exact, buffer);
    }
  }
  reference.buffers.insert(reference.buffers.end(), outputs.begin(), outputs.end());
  for (const Launch& launch : naive.launches) {
    reference.launches.push_back({launch.name, launch.phase, doubler.Run(launch.body)});
  }
  for (const auto& [exact, original] : exact_outputs) {
    const auto& [value, magnitude] = doubler.PairOf(original);
    const Buffer& from = exact;
    reference.launches.push_back(
        Fill(value, [&](const std::vector<Expr>& axes) { return Cast(kF64, Load(from, axes)); }));
    const Buffer slack = doubler.SlackOf(original);
    reference.launches.push_back(Fill(magnitude, [&](const std::vector<Expr>& axes) {
      return slack ? Load(slack, axes) : Real(0);
    }));
  }
  return reference;
}

}  // namespace hone::loop
