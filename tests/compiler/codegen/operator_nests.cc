#include "tests/compiler/codegen/operator_nests.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/loop/builder.h"

namespace hone::codegen {

using loop::BinaryOp;
using loop::Expr;
using loop::UnaryOp;

ElementwiseNest::ElementwiseNest(bool vectorised) : vectorised_(vectorised) {
  nest_.name = "elementwise";
}

loop::Buffer ElementwiseNest::Input(DataType dtype, double low, double high) {
  auto buffer = std::make_shared<loop::BufferNode>(*loop::MakeBuffer(
      fmt::format("in{}", inputs_.size()), dtype, {kElements}, loop::Role::kInput));
  buffer->domain_low = low;
  buffer->domain_high = high;
  inputs_.push_back(buffer);
  return buffer;
}

void ElementwiseNest::Add(const std::function<Expr(Expr i)>& value) {
  const Expr outer = loop::Var(fmt::format("o{}", outputs_.size()));
  const Expr inner = loop::Var(fmt::format("i{}", outputs_.size()));
  const Expr i = outer * 16 + inner;
  const Expr stored = value(i);
  const auto output = loop::MakeBuffer(fmt::format("out{}", outputs_.size()), stored->dtype,
                                       {kElements}, loop::Role::kOutput);
  outputs_.push_back(output);
  const loop::Stmt body = loop::If(loop::Lt(i, kElements), loop::Store(output, {i}, stored));
  nest_.launches.push_back(
      {output->name, loop::Phase::kRun,
       loop::For(outer, 0, 3,
                 loop::For(inner, 0, 16, body,
                           vectorised_ ? loop::LoopKind::kVectorize : loop::LoopKind::kSerial),
                 loop::LoopKind::kParallel)});
}

loop::Nest ElementwiseNest::Finish() {
  nest_.buffers = inputs_;
  nest_.buffers.insert(nest_.buffers.end(), outputs_.begin(), outputs_.end());
  return nest_;
}

double Tolerance(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat64:
      return 1e-13;
    case DataType::kFloat16:
      return 1e-3;
    case DataType::kBFloat16:
      return 8e-3;
    default:
      return 1e-6;
  }
}

namespace {

bool TakesIntegers(UnaryOp op) {
  return op == UnaryOp::kNeg || op == UnaryOp::kNot || op == UnaryOp::kAbs ||
         op == UnaryOp::kSign || op == UnaryOp::kIsNan || op == UnaryOp::kIsInf;
}

}  // namespace

loop::Nest UnaryNest(DataType dtype, bool vectorised) {
  ElementwiseNest nest(vectorised);
  const loop::Buffer x = nest.Input(dtype);
  const loop::Buffer positive = nest.Input(dtype, 1, 3);
  const loop::Buffer unit = nest.Input(dtype, IsFloat(dtype) ? -0.99 : 0, 0.99);
  for (int i = 0; i <= static_cast<int>(UnaryOp::kSign); ++i) {
    const auto op = static_cast<UnaryOp>(i);
    if (!IsFloat(dtype) && !TakesIntegers(op)) continue;
    const bool needs_positive = op == UnaryOp::kSqrt || op == UnaryOp::kRsqrt ||
                                op == UnaryOp::kLog || op == UnaryOp::kAcosh;
    const bool needs_unit = op == UnaryOp::kAsin || op == UnaryOp::kAcos || op == UnaryOp::kAtanh;
    const loop::Buffer from = needs_positive ? positive : needs_unit ? unit : x;
    nest.Add([&](Expr j) { return loop::Unary(op, loop::Load(from, {j})); });
  }
  return nest.Finish();
}

loop::Nest BinaryNest(DataType dtype, bool vectorised) {
  ElementwiseNest nest(vectorised);
  const loop::Buffer x = nest.Input(dtype);
  const loop::Buffer y = nest.Input(dtype);
  const loop::Buffer divisor = nest.Input(dtype, 1, 5);
  for (int i = 0; i <= static_cast<int>(BinaryOp::kBitOr); ++i) {
    const auto op = static_cast<BinaryOp>(i);
    const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kMod ||
                         op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
    const bool bits = op == BinaryOp::kXor || op == BinaryOp::kShiftLeft ||
                      op == BinaryOp::kShiftRight || op == BinaryOp::kBitAnd ||
                      op == BinaryOp::kBitOr;
    if (bits && IsFloat(dtype)) continue;
    if (dtype == DataType::kBool && op != BinaryOp::kAnd && op != BinaryOp::kOr &&
        op != BinaryOp::kXor && op != BinaryOp::kBitAnd && op != BinaryOp::kBitOr &&
        op != BinaryOp::kEq && op != BinaryOp::kNe) {
      continue;
    }
    const bool positive = divides || op == BinaryOp::kPow || bits;
    nest.Add([&](Expr j) {
      const bool base = op == BinaryOp::kPow && IsFloat(dtype);
      return loop::Binary(op, loop::Load(base ? divisor : x, {j}),
                          loop::Load(positive ? divisor : y, {j}));
    });
  }
  return nest.Finish();
}

loop::Nest QuotientNest(DataType dtype, bool vectorised) {
  ElementwiseNest nest(vectorised);
  const int bits = 8 * SizeBytes(dtype) - (IsUnsigned(dtype) ? 0 : 1);
  const double high = bits < 53 ? std::exp2(bits) - 1 : 0x1p52;
  const double low = IsUnsigned(dtype) ? 0 : -high - 1;
  const loop::Buffer x = nest.Input(dtype, low, high);
  for (const loop::Buffer& y : {nest.Input(dtype, low, high), nest.Input(dtype, 0, 3),
                                nest.Input(dtype, low < 0 ? -2 : 0, 1)}) {
    for (const BinaryOp op :
         {BinaryOp::kDiv, BinaryOp::kMod, BinaryOp::kFloorDiv, BinaryOp::kFloorMod}) {
      const auto value = [op](const Expr& a, const Expr& b) { return loop::Binary(op, a, b); };
      nest.Add([&](Expr j) { return value(loop::Load(x, {j}), loop::Load(y, {j})); });
      nest.Add([&](Expr j) { return value(loop::Const(low, dtype), loop::Load(y, {j})); });
      // Multiples of the divisor and their neighbours.
      nest.Add([&](Expr j) {
        const Expr divisor = loop::Load(y, {j});
        const Expr multiple = loop::Binary(BinaryOp::kDiv, loop::Load(x, {j}), divisor) * divisor;
        return value(multiple + loop::Const(-1, dtype), divisor);
      });
    }
  }
  return nest.Finish();
}

loop::Nest CastNest(DataType dtype, bool vectorised) {
  ElementwiseNest nest(vectorised);
  const loop::Buffer x = nest.Input(dtype);
  const bool wide = dtype == DataType::kFloat32 || dtype == DataType::kFloat64;
  const loop::Buffer big = wide ? nest.Input(dtype, -1e11, 1e11) : x;
  for (const DataType to : kEveryType) {
    nest.Add([&](Expr j) { return loop::Cast(to, loop::Load(x, {j})); });
    if (!IsFloat(to)) nest.Add([&](Expr j) { return loop::Cast(to, loop::Load(big, {j})); });
  }
  return nest.Finish();
}

loop::Nest SelectNest(DataType dtype, bool vectorised) {
  ElementwiseNest nest(vectorised);
  const loop::Buffer x = nest.Input(dtype);
  const loop::Buffer y = nest.Input(dtype);
  const loop::Buffer chosen = nest.Input(DataType::kBool);
  nest.Add([&](Expr j) {
    return loop::Select(loop::Load(chosen, {j}), loop::Load(x, {j}), loop::Load(y, {j}));
  });
  // Out of bounds unless guarded.
  nest.Add([&](Expr j) {
    return loop::Select(loop::And(loop::Ge(j, 3), loop::Lt(j, 30)), loop::Load(x, {j - 3}),
                        loop::Const(1, dtype));
  });
  return nest.Finish();
}

loop::Nest SaturatingNest(DataType from) {
  ElementwiseNest nest(true);
  const loop::Buffer x = nest.Input(from, 0, 1);
  const auto value = [&](const Expr& j) {
    const double powers[] = {0x1p31, 0x1p32, 0x1p63, 0x1p64, 1e30, 0x1p31 - 128, 255.5, 32768};
    const Expr zero = loop::Load(x, {j}) - loop::Load(x, {j});
    Expr number = loop::Binary(BinaryOp::kDiv, zero, zero);
    for (int64_t i = 0; i < std::ssize(powers); ++i) {
      for (const double sign : {-1.0, 1.0}) {
        number = loop::Select(loop::Eq(j, 2 * i + (sign < 0 ? 1 : 0)),
                              loop::Const(sign * powers[i], from), number);
      }
    }
    number = loop::Select(loop::Eq(j, 20), loop::Binary(BinaryOp::kDiv, loop::Const(1, from), zero),
                          number);
    return loop::Select(loop::Eq(j, 21), loop::Binary(BinaryOp::kDiv, loop::Const(-1, from), zero),
                        number);
  };
  for (const DataType to :
       {DataType::kInt8, DataType::kUInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64,
        DataType::kUInt16, DataType::kUInt32, DataType::kUInt64}) {
    nest.Add([&](Expr j) { return loop::Cast(to, value(j)); });
  }
  return nest.Finish();
}

loop::Nest RemainderNest(DataType dtype) {
  ElementwiseNest nest(true);
  const loop::Buffer x = nest.Input(dtype, -1e5, 1e5);
  for (const double high : {1e-9, 1e-2, 1.0, 1e2, 1e9}) {
    const loop::Buffer y = nest.Input(dtype, high * 1e-3, high);
    for (const BinaryOp op : {BinaryOp::kMod, BinaryOp::kFloorMod}) {
      nest.Add([&](Expr j) { return loop::Binary(op, loop::Load(x, {j}), loop::Load(y, {j})); });
    }
  }
  return nest.Finish();
}

loop::Nest NanNest() {
  loop::NestBuilder builder("nan");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {16});
  const Expr nan = loop::Binary(BinaryOp::kDiv, loop::Load(x, {3}) - loop::Load(x, {3}),
                                loop::FloatConst(0, DataType::kFloat32));
  const auto pair = [&](BinaryOp op, bool first) {
    return builder.Compute("y", DataType::kFloat32, {16}, [&](const std::vector<Expr>& i) {
      const Expr bad = loop::Select(loop::Eq(i[0], 5), nan, loop::Load(x, i));
      const Expr good = loop::Load(x, {Expr(15) - i[0]});
      return first ? loop::Binary(op, bad, good) : loop::Binary(op, good, bad);
    });
  };
  std::vector<loop::Buffer> outputs;
  for (const BinaryOp op : {BinaryOp::kMin, BinaryOp::kMax}) {
    outputs.push_back(pair(op, true));
    outputs.push_back(pair(op, false));
  }
  return builder.Finish(outputs);
}

}  // namespace hone::codegen
