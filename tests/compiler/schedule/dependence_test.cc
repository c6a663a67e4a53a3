#include "compiler/schedule/primitives/dependence.h"

#include "compiler/loop/interpreter.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "support/random.h"

namespace hone::schedule {
namespace {

using loop::Bounds;
using loop::Buffer;
using loop::Cast;
using loop::Expr;
using loop::FloatConst;
using loop::FloorDiv;
using loop::FloorMod;
using loop::For;
using loop::Interpret;
using loop::Load;
using loop::LoopKind;
using loop::MakeBuffer;
using loop::Max;
using loop::Min;
using loop::Nest;
using loop::Phase;
using loop::Role;
using loop::Seq;
using loop::Stmt;
using loop::Store;
using loop::ToText;
using loop::Var;

constexpr DataType kF32 = DataType::kFloat32;

// A linear index of the loops, sometimes a digit of it, kept inside the buffer.
Expr RandomIndex(Random& random, const std::vector<Expr>& vars, int64_t extent) {
  const int64_t coefficients[] = {0, 0, 1, 1, 2, 3, 4, -1};
  Expr index = static_cast<int64_t>(16 + random.Below(3));
  for (const Expr& var : vars) index = index + var * Expr(coefficients[random.Below(8)]);
  const int64_t divisors[] = {2, 3, 4};
  if (random.Below(4) == 0) index = FloorDiv(index, Expr(divisors[random.Below(3)]));
  if (random.Below(4) == 0) index = FloorMod(index, Expr(divisors[random.Below(3)]));
  return Max(Min(index, Expr(extent - 1)), Expr(0));
}

// What is called independent gives the same bits in the reverse order.
RC_GTEST_PROP(DependenceProperty, IndependentLoopsRunInAnyOrder, (uint64_t seed)) {
  Random random(seed);
  const Buffer x = MakeBuffer("x", kF32, {128, 128}, Role::kOutput);
  const Buffer y = MakeBuffer("y", kF32, {128, 128}, Role::kOutput);
  std::vector<Expr> vars;
  std::vector<Expr> mins;
  std::vector<Expr> extents;
  for (int n = 0; n < 3; ++n) {
    const bool shifted = n > 0 && random.Below(3) == 0;
    mins.push_back(shifted ? vars[0] * Expr(static_cast<int64_t>(1 + random.Below(3))) : Expr(0));
    vars.push_back(Var("v" + std::to_string(n)));
    extents.push_back(static_cast<int64_t>(1 + random.Below(4)));
  }
  const auto indices = [&] {
    std::vector<Expr> result;
    for (int d = 0; d < 2; ++d) {
      const Expr index = RandomIndex(random, vars, 128);
      result.push_back(index);
    }
    return result;
  };
  std::vector<Stmt> stores;
  for (uint64_t n = 1 + random.Below(2); n > 0; --n) {
    const Buffer& to = random.Below(3) ? x : y;
    const std::vector<Expr> place = indices();
    const Expr id = Cast(kF32, vars[0] * 64 + vars[1] * 8 + vars[2]);
    const Expr old = random.Below(2) ? Load(to, place) : Load(random.Below(2) ? x : y, indices());
    stores.push_back(
        Store(to, place, random.Below(3) == 0 ? old + id : old * FloatConst(2, kF32) + id));
  }
  const size_t chosen = random.Below(3);
  Stmt body = Seq(stores);
  bool independent = false;
  for (size_t n = 3; n-- > 0;) {
    const LoopKind kind = n == chosen ? LoopKind::kParallel : LoopKind::kSerial;
    body = For(vars[n], mins[n], extents[n], body, kind);
    if (n == chosen) {
      Bounds outside;
      for (size_t o = 0; o < n; ++o) outside.PushLoop(*For(vars[o], mins[o], extents[o], Seq({})));
      independent = IterationsIndependent(body, outside);
    }
  }
  const Nest nest{"k", {x, y}, {{"l", Phase::kRun, body}}};
  std::vector<float> results[2];
  for (bool reverse : {false, true}) {
    std::vector<float> a(128 * 128), b(128 * 128);
    for (size_t i = 0; i < a.size(); ++i) a[i] = b[i] = static_cast<float>(i % 7);
    RC_ASSERT(Interpret(nest, {a.data(), b.data()}, {.reverse_grid = reverse}).ok());
    a.insert(a.end(), b.begin(), b.end());
    results[reverse ? 1 : 0] = a;
  }
  RC_CLASSIFY(independent, "independent");
  if (independent && results[0] != results[1]) RC_FAIL(ToText(nest));
}

// Threads that take two neighbours each, some steps of them apart: x[o * 8 + t * 2 + i].
TEST(Dependence, IterationsBetweenLargerStepsAreApart) {
  const auto independent = [](int64_t step, int64_t own) {
    const Buffer x = MakeBuffer("x", kF32, {128}, Role::kOutput);
    const Expr o = Var("o"), t = Var("t"), i = Var("i");
    const Stmt store = Store(x, {o * Expr(step) + t * 2 + i}, FloatConst(1, kF32));
    return IterationsIndependent(For(t, 0, 4, For(o, 0, 3, For(i, 0, own, store))), Bounds());
  };
  EXPECT_TRUE(independent(8, 2));
  EXPECT_TRUE(independent(11, 2));
  EXPECT_FALSE(independent(7, 2)) << "the next step's first are the last thread's second";
  EXPECT_FALSE(independent(8, 3)) << "the next thread's first are a thread's third";
}

}  // namespace
}  // namespace hone::schedule
