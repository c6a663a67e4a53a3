// Every operator on every type computes what the interpreter does, scalar and vectorised.
#include <fmt/format.h>

#include <cmath>

#include "runtime/cpus.h"
#include "support/random.h"
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::UnaryOp;

constexpr DataType kTypes[] = {DataType::kFloat32,  DataType::kFloat64, DataType::kFloat16,
                               DataType::kBFloat16, DataType::kInt8,    DataType::kInt16,
                               DataType::kInt32,    DataType::kInt64,   DataType::kUInt8,
                               DataType::kUInt16,   DataType::kUInt32,  DataType::kUInt64,
                               DataType::kBool};
constexpr int64_t kElements = 37;

// One launch that stores `value(i)` to a new output for each of several values; 16 lanes with a
// masked tail, or one.
class ElementwiseNest {
 public:
  explicit ElementwiseNest(bool vectorised) : vectorised_(vectorised) {
    nest_.name = "elementwise";
  }

  loop::Buffer Input(DataType dtype, double low = 0, double high = 0) {
    auto buffer = std::make_shared<loop::BufferNode>(*loop::MakeBuffer(
        fmt::format("in{}", inputs_.size()), dtype, {kElements}, loop::Role::kInput));
    buffer->domain_low = low;
    buffer->domain_high = high;
    inputs_.push_back(buffer);
    return buffer;
  }

  void Add(const std::function<Expr(Expr i)>& value) {
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

  loop::Nest Finish() {
    nest_.buffers = inputs_;
    nest_.buffers.insert(nest_.buffers.end(), outputs_.begin(), outputs_.end());
    return nest_;
  }

 private:
  bool vectorised_;
  loop::Nest nest_;
  std::vector<loop::Buffer> inputs_;
  std::vector<loop::Buffer> outputs_;
};

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

bool TakesIntegers(UnaryOp op) {
  return op == UnaryOp::kNeg || op == UnaryOp::kNot || op == UnaryOp::kAbs ||
         op == UnaryOp::kSign || op == UnaryOp::kIsNan || op == UnaryOp::kIsInf;
}

class Operators : public testing::TestWithParam<std::tuple<DataType, bool>> {
 protected:
  DataType dtype() const { return std::get<0>(GetParam()); }
  bool vectorised() const { return std::get<1>(GetParam()); }
};

TEST_P(Operators, UnaryIsAsInterpreted) {
  ElementwiseNest nest(vectorised());
  const loop::Buffer x = nest.Input(dtype());
  const loop::Buffer positive = nest.Input(dtype(), 1, 3);
  const loop::Buffer unit = nest.Input(dtype(), IsFloat(dtype()) ? -0.99 : 0, 0.99);
  for (int i = 0; i <= static_cast<int>(UnaryOp::kSign); ++i) {
    const auto op = static_cast<UnaryOp>(i);
    if (!IsFloat(dtype()) && !TakesIntegers(op)) continue;
    const bool needs_positive = op == UnaryOp::kSqrt || op == UnaryOp::kRsqrt ||
                                op == UnaryOp::kLog || op == UnaryOp::kAcosh;
    const bool needs_unit = op == UnaryOp::kAsin || op == UnaryOp::kAcos || op == UnaryOp::kAtanh;
    const loop::Buffer from = needs_positive ? positive : needs_unit ? unit : x;
    nest.Add([&](Expr j) { return loop::Unary(op, loop::Load(from, {j})); });
  }
  ExpectSameAsInterpreter(nest.Finish(), Tolerance(dtype()));
}

TEST_P(Operators, BinaryIsAsInterpreted) {
  ElementwiseNest nest(vectorised());
  const loop::Buffer x = nest.Input(dtype());
  const loop::Buffer y = nest.Input(dtype());
  const loop::Buffer divisor = nest.Input(dtype(), 1, 5);
  for (int i = 0; i <= static_cast<int>(BinaryOp::kBitOr); ++i) {
    const auto op = static_cast<BinaryOp>(i);
    const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kMod ||
                         op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
    const bool bits = op == BinaryOp::kXor || op == BinaryOp::kShiftLeft ||
                      op == BinaryOp::kShiftRight || op == BinaryOp::kBitAnd ||
                      op == BinaryOp::kBitOr;
    if (bits && IsFloat(dtype())) continue;
    if (dtype() == DataType::kBool && op != BinaryOp::kAnd && op != BinaryOp::kOr &&
        op != BinaryOp::kXor && op != BinaryOp::kBitAnd && op != BinaryOp::kBitOr &&
        op != BinaryOp::kEq && op != BinaryOp::kNe) {
      continue;
    }
    const bool positive = divides || op == BinaryOp::kPow || bits;
    nest.Add([&](Expr j) {
      const bool base = op == BinaryOp::kPow && IsFloat(dtype());
      return loop::Binary(op, loop::Load(base ? divisor : x, {j}),
                          loop::Load(positive ? divisor : y, {j}));
    });
  }
  ExpectSameAsInterpreter(nest.Finish(), Tolerance(dtype()) * 4);
}

// x86 divides vectors of integers as floats.
TEST_P(Operators, WholeQuotientsAreExact) {
  if (IsFloat(dtype()) || dtype() == DataType::kBool) return;
  ElementwiseNest nest(vectorised());
  const int bits = 8 * SizeBytes(dtype()) - (IsUnsigned(dtype()) ? 0 : 1);
  const double high = bits < 53 ? std::exp2(bits) - 1 : 0x1p52;
  const double low = IsUnsigned(dtype()) ? 0 : -high - 1;
  const loop::Buffer x = nest.Input(dtype(), low, high);
  for (const loop::Buffer& y : {nest.Input(dtype(), low, high), nest.Input(dtype(), 0, 3),
                                nest.Input(dtype(), low < 0 ? -2 : 0, 1)}) {
    for (const BinaryOp op :
         {BinaryOp::kDiv, BinaryOp::kMod, BinaryOp::kFloorDiv, BinaryOp::kFloorMod}) {
      const auto value = [op](const Expr& a, const Expr& b) { return loop::Binary(op, a, b); };
      nest.Add([&](Expr j) { return value(loop::Load(x, {j}), loop::Load(y, {j})); });
      nest.Add([&](Expr j) { return value(loop::Const(low, dtype()), loop::Load(y, {j})); });
      // Multiples of the divisor and their neighbours.
      nest.Add([&](Expr j) {
        const Expr divisor = loop::Load(y, {j});
        const Expr multiple = loop::Binary(BinaryOp::kDiv, loop::Load(x, {j}), divisor) * divisor;
        return value(multiple + loop::Const(-1, dtype()), divisor);
      });
    }
  }
  ExpectSameAsInterpreter(nest.Finish(), 0);
}

TEST_P(Operators, CastsAreAsInterpreted) {
  ElementwiseNest nest(vectorised());
  const loop::Buffer x = nest.Input(dtype());
  const bool wide = dtype() == DataType::kFloat32 || dtype() == DataType::kFloat64;
  const loop::Buffer big = wide ? nest.Input(dtype(), -1e11, 1e11) : x;
  for (const DataType to : kTypes) {
    nest.Add([&](Expr j) { return loop::Cast(to, loop::Load(x, {j})); });
    if (!IsFloat(to)) nest.Add([&](Expr j) { return loop::Cast(to, loop::Load(big, {j})); });
  }
  ExpectSameAsInterpreter(nest.Finish(), 1e-7);
}

TEST_P(Operators, SelectsAreAsInterpreted) {
  ElementwiseNest nest(vectorised());
  const loop::Buffer x = nest.Input(dtype());
  const loop::Buffer y = nest.Input(dtype());
  const loop::Buffer chosen = nest.Input(DataType::kBool);
  nest.Add([&](Expr j) {
    return loop::Select(loop::Load(chosen, {j}), loop::Load(x, {j}), loop::Load(y, {j}));
  });
  // Out of bounds unless guarded.
  nest.Add([&](Expr j) {
    return loop::Select(loop::And(loop::Ge(j, 3), loop::Lt(j, 30)), loop::Load(x, {j - 3}),
                        loop::Const(1, dtype()));
  });
  ExpectSameAsInterpreter(nest.Finish());
}

INSTANTIATE_TEST_SUITE_P(AllTypes, Operators,
                         testing::Combine(testing::ValuesIn(kTypes), testing::Bool()),
                         [](const auto& info) {
                           return std::string(Name(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) ? "Vector" : "Scalar");
                         });

TEST(Operators, WorkWithoutFusedMultiplyAddOrHalfConversions) {
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16}) {
    ElementwiseNest nest(true);
    const loop::Buffer x = nest.Input(dtype);
    const loop::Buffer y = nest.Input(dtype);
    nest.Add([&](Expr j) {
      return loop::Load(x, {j}) * loop::Load(y, {j}) +
             loop::Unary(UnaryOp::kExp, loop::Load(x, {j}));
    });
    nest.Add([&](Expr j) { return loop::Cast(DataType::kFloat32, loop::Load(x, {j})); });
    ExpectSameAsInterpreter(nest.Finish(), Tolerance(dtype) * 4,
                            "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2");
  }
}

// Remainders are exact, whatever the processor fuses, also of quotients of many bits.
TEST(Operators, RemaindersOfFloatsAreExact) {
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat64}) {
    ElementwiseNest nest(true);
    const loop::Buffer x = nest.Input(dtype, -1e5, 1e5);
    for (const double high : {1e-9, 1e-2, 1.0, 1e2, 1e9}) {
      const loop::Buffer y = nest.Input(dtype, high * 1e-3, high);
      for (const BinaryOp op : {BinaryOp::kMod, BinaryOp::kFloorMod}) {
        nest.Add([&](Expr j) { return loop::Binary(op, loop::Load(x, {j}), loop::Load(y, {j})); });
      }
    }
    for (const char* cpu : {"x86-64", "x86-64-v2", "x86-64-v3"}) {
      ExpectSameAsInterpreter(nest.Finish(), 0,
                              fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={}", cpu));
    }
  }
}

TEST(Operators, CastsOfWhatDoesNotFitSaturate) {
  for (const DataType from : {DataType::kFloat32, DataType::kFloat64}) {
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
      number = loop::Select(loop::Eq(j, 20),
                            loop::Binary(BinaryOp::kDiv, loop::Const(1, from), zero), number);
      return loop::Select(loop::Eq(j, 21),
                          loop::Binary(BinaryOp::kDiv, loop::Const(-1, from), zero), number);
    };
    for (const DataType to :
         {DataType::kInt8, DataType::kUInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64,
          DataType::kUInt16, DataType::kUInt32, DataType::kUInt64}) {
      nest.Add([&](Expr j) { return loop::Cast(to, value(j)); });
    }
    for (const char* target : {"native", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2"}) {
      ExpectSameAsInterpreter(nest.Finish(), 0, target);
    }
  }
}

// LLVM aborts where features do not go together: a target says which there are, not which cpu has
// them.
TEST(Operators, CompileForAnyFeaturesOnAnyCpu) {
  ElementwiseNest nest(true);
  for (const DataType dtype :
       {DataType::kFloat32, DataType::kInt8, DataType::kFloat16, DataType::kBFloat16}) {
    const loop::Buffer x = nest.Input(dtype);
    const loop::Buffer y = nest.Input(dtype);
    nest.Add([&](Expr j) {
      const Expr sum = loop::Load(x, {j}) + loop::Load(y, {j});
      return loop::Cast(DataType::kFloat32, loop::Max(sum, loop::Load(x, {j})));
    });
  }
  const loop::Nest finished = nest.Finish();
  Random random(1);
  for (const char* const triple : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
    for (const std::string& cpu : KnownCpus(triple)) {
      std::string features;
      for (const std::string& name : KnownFeatures(triple)) {
        if (random.Below(2) == 0) features += ",+" + name;
      }
      const std::string text = fmt::format("llvm -mtriple={} -mcpu={} -mattr={}", triple, cpu,
                                           features.substr(features.empty() ? 0 : 1));
      SCOPED_TRACE(text);
      const auto module = BuildModule(ArtifactOf(finished, TestTarget(text)));
      EXPECT_TRUE(module.ok()) << module.status();
    }
  }
}

// As an index, half of what 64 bits without a sign hold is negative: no bound follows from its
// type.
TEST(Operators, CastsOf64BitsWithoutASignMayBeNegativeIndices) {
  for (const bool vectorised : {false, true}) {
    ElementwiseNest nest(vectorised);
    const loop::Buffer x = nest.Input(DataType::kUInt64, 0, 100);
    for (const double offset : {0.0, 0x1p63, 0x1p64 - 2048}) {
      const auto cast = [&](const Expr& j) {
        return loop::Cast(DataType::kInt64,
                          loop::Load(x, {j}) + loop::Const(offset, DataType::kUInt64));
      };
      nest.Add([&](Expr j) { return loop::Max(cast(j), loop::IntConst(0)); });
      nest.Add([&](Expr j) { return loop::Min(cast(j), loop::IntConst(-1)); });
      nest.Add([&](Expr j) { return loop::Binary(BinaryOp::kFloorDiv, cast(j), 7); });
      nest.Add([&](Expr j) {
        return loop::Load(x, {loop::Min(loop::Max(cast(j), loop::IntConst(0)), 36)});
      });
    }
    ExpectSameAsInterpreter(nest.Finish(), 0);
  }
}

TEST(Operators, MinMaxAndSignPropagateNan) {
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
  ExpectSameAsInterpreter(builder.Finish(outputs), 0);
}

}  // namespace
}  // namespace hone::codegen
