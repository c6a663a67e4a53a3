#include "tests/compiler/schedule/test_nests.h"

#include "compiler/loop/builder.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using Axes = const std::vector<Expr>&;

constexpr DataType kFloat = DataType::kFloat32;

loop::Nest MatmulNest(int64_t m, int64_t n, int64_t k) {
  loop::NestBuilder builder("matmul");
  const Buffer a = builder.AddInput("a", kFloat, {m, k});
  const Buffer b = builder.AddConstant("b", kFloat, {n, k});
  const Buffer bias = builder.AddConstant("bias", kFloat, {n});
  const Buffer sum = builder.Reduce(
      "sum", kFloat, {m, n}, {k}, loop::NestBuilder::Combiner::kAdd, loop::Const(0, kFloat),
      [&](Axes i, Axes r) { return loop::Load(a, {i[0], r[0]}) * loop::Load(b, {i[1], r[0]}); });
  const Buffer out = builder.Compute("out", kFloat, {m, n}, [&](Axes i) {
    return loop::Max(loop::Load(sum, i) + loop::Load(bias, {i[1]}), loop::Const(0, kFloat));
  });
  return builder.Finish({out});
}

loop::Nest ConvNest(int64_t channels, int64_t size, int64_t outputs) {
  loop::NestBuilder builder("conv");
  const Buffer x = builder.AddInput("x", kFloat, {1, channels, size, size});
  const Buffer w = builder.AddConstant("w", kFloat, {outputs, channels, 3, 3});
  const Buffer pad = builder.Compute("pad", kFloat, {1, channels, size + 2, size + 2}, [&](Axes i) {
    const Expr inside = loop::And(loop::And(loop::Ge(i[2], 1), loop::Lt(i[2], size + 1)),
                                  loop::And(loop::Ge(i[3], 1), loop::Lt(i[3], size + 1)));
    return loop::Select(inside, loop::Load(x, {i[0], i[1], i[2] - 1, i[3] - 1}),
                        loop::Const(0, kFloat));
  });
  const Buffer conv = builder.Reduce(
      "conv", kFloat, {1, outputs, size, size}, {channels, 3, 3}, loop::NestBuilder::Combiner::kAdd,
      loop::Const(0, kFloat), [&](Axes i, Axes r) {
        return loop::Load(pad, {i[0], r[0], i[2] + r[1], i[3] + r[2]}) *
               loop::Load(w, {i[1], r[0], r[1], r[2]});
      });
  const Buffer relu = builder.Compute("relu", kFloat, {1, outputs, size, size}, [&](Axes i) {
    return loop::Max(loop::Load(conv, i), loop::Const(0, kFloat));
  });
  return builder.Finish({relu});
}

loop::Nest OneTapNest(int64_t channels, int64_t rows, int64_t columns, int64_t outputs) {
  loop::NestBuilder builder("one_tap");
  const Buffer x = builder.AddInput("x", kFloat, {channels, rows, columns});
  const Buffer w = builder.AddConstant("w", kFloat, {outputs, channels});
  const Buffer bias = builder.AddConstant("bias", kFloat, {outputs, 1, 1});
  const Buffer conv = builder.Reduce(
      "conv", kFloat, {outputs, rows, columns}, {channels, 1, 1}, loop::NestBuilder::Combiner::kAdd,
      loop::Const(0, kFloat), [&](Axes i, Axes r) {
        return loop::Load(x, {r[0], i[1] + r[1], i[2] + r[2]}) * loop::Load(w, {i[0], r[0]});
      });
  const Buffer out = builder.Compute("out", kFloat, {outputs, rows, columns}, [&](Axes i) {
    return loop::Load(conv, i) + loop::Load(bias, {i[0], Expr(0), Expr(0)});
  });
  return builder.Finish({out});
}

loop::Nest TransposeNest(int64_t rows, int64_t columns) {
  loop::NestBuilder builder("transpose");
  const Buffer x = builder.AddInput("x", kFloat, {rows, columns});
  const Buffer twice = builder.Compute("twice", kFloat, {rows, columns},
                                       [&](Axes i) { return loop::Load(x, i) + loop::Load(x, i); });
  const Buffer out = builder.Compute("out", kFloat, {columns, rows}, [&](Axes i) {
    return loop::Load(twice, {i[1], i[0]}) * loop::Const(3, kFloat);
  });
  return builder.Finish({out});
}

}  // namespace hone::schedule
