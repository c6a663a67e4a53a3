// Every operator on every type computes what the interpreter does, scalar and vectorised.
#include <fmt/format.h>

#include <cmath>

#include "runtime/cpus.h"
#include "support/random.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/operator_nests.h"

namespace hone::codegen {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::UnaryOp;

class Operators : public testing::TestWithParam<std::tuple<DataType, bool>> {
 protected:
  DataType dtype() const { return std::get<0>(GetParam()); }
  bool vectorised() const { return std::get<1>(GetParam()); }
};

TEST_P(Operators, UnaryIsAsInterpreted) {
  ExpectSameAsInterpreter(UnaryNest(dtype(), vectorised()), Tolerance(dtype()));
}

TEST_P(Operators, BinaryIsAsInterpreted) {
  ExpectSameAsInterpreter(BinaryNest(dtype(), vectorised()), Tolerance(dtype()) * 4);
}

// x86 divides vectors of integers as floats.
TEST_P(Operators, WholeQuotientsAreExact) {
  if (IsFloat(dtype()) || dtype() == DataType::kBool) return;
  ExpectSameAsInterpreter(QuotientNest(dtype(), vectorised()), 0);
}

TEST_P(Operators, CastsAreAsInterpreted) {
  ExpectSameAsInterpreter(CastNest(dtype(), vectorised()), 1e-7);
}

TEST_P(Operators, SelectsAreAsInterpreted) {
  ExpectSameAsInterpreter(SelectNest(dtype(), vectorised()));
}

INSTANTIATE_TEST_SUITE_P(AllTypes, Operators,
                         testing::Combine(testing::ValuesIn(kEveryType), testing::Bool()),
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
    for (const char* cpu : {"x86-64", "x86-64-v2", "x86-64-v3"}) {
      ExpectSameAsInterpreter(RemainderNest(dtype), 0,
                              fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={}", cpu));
    }
  }
}

TEST(Operators, CastsOfWhatDoesNotFitSaturate) {
  for (const DataType from : {DataType::kFloat32, DataType::kFloat64}) {
    for (const char* target : {"native", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2"}) {
      ExpectSameAsInterpreter(SaturatingNest(from), 0, target);
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

TEST(Operators, MinMaxAndSignPropagateNan) { ExpectSameAsInterpreter(NanNest(), 0); }

}  // namespace
}  // namespace hone::codegen
