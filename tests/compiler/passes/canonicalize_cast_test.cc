// Casts that are left out or moved change no bit of what a graph computes.
#include "compiler/passes/canonicalize_cast.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/rewriting.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using ir::Call;
using ir::Expr;

constexpr DataType kDtypes[] = {DataType::kBool,    DataType::kInt8,     DataType::kUInt8,
                                DataType::kInt16,   DataType::kInt32,    DataType::kInt64,
                                DataType::kFloat16, DataType::kBFloat16, DataType::kFloat32,
                                DataType::kFloat64, DataType::kUInt16,   DataType::kUInt32,
                                DataType::kUInt64};

// Values that wrap around, saturate and round, whatever they are cast to.
Expr AwkwardConstant(Random& random, std::vector<int64_t> shape) {
  const ir::TensorType type{std::move(shape), DataType::kFloat64};
  std::vector<double> values(static_cast<size_t>(type.ElementCount()));
  for (double& value : values) {
    value = (static_cast<double>(random.Below(1000)) - 500) / 7;
    if (random.Below(3) == 0) value *= 1e3;
    if (random.Below(5) == 0) value *= 1e7;
  }
  return ir::ConstantFromBytes(type, values.data());
}

Expr Reverse(const Expr& x) {
  return Call("transpose", {x}, {{"axes", std::vector<int64_t>{1, 0}}});
}

// Casts, moves and a little arithmetic on square matrices.
ir::Module RandomCasts(Random& random) {
  const Expr data = ir::TensorVar("data", {3, 3}, DataType::kFloat64);
  std::vector<Expr> values{data};
  const auto pick = [&] {
    return values[values.size() - 1 - random.Below(std::min<size_t>(values.size(), 3))];
  };
  const auto cast = [&](const Expr& x) {
    return Call("cast", {x}, {{"dtype", kDtypes[random.Below(std::size(kDtypes))]}});
  };
  const size_t count = 2 + random.Below(10);
  for (size_t i = 0; i < count; ++i) {
    const Expr x = pick();
    switch (random.Below(8)) {
      case 0:
        values.push_back(Reverse(x));
        break;
      case 1:
        values.push_back(Call("reshape", {x}, {{"newshape", std::vector<int64_t>{3, 3}}}));
        break;
      case 2: {
        const Expr tiled = Call("tile", {x}, {{"reps", std::vector<int64_t>{1, 2}}});
        values.push_back(
            Call("strided_slice", {cast(tiled)},
                 {{"begin", std::vector<int64_t>{0, 2}}, {"end", std::vector<int64_t>{3, 5}}}));
        break;
      }
      case 3: {
        const Expr term = cast(x);
        values.push_back(Call("add", {term, term}));
        break;
      }
      default:
        values.push_back(cast(x));
    }
  }
  return {{{"main", ir::Function({data}, ir::Tuple({values.back(), pick(), cast(pick())}))}}};
}

void ExpectSameBits(const std::vector<Expr>& before, const std::vector<Expr>& after,
                    const std::string& what) {
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(*before[i]->type, *after[i]->type) << what;
    ASSERT_EQ(
        std::memcmp(before[i]->data.bytes(), after[i]->data.bytes(), before[i]->data.size_bytes()),
        0)
        << what << " output " << i;
  }
}

TEST(CanonicalizeCast, ChangesNoBitOfRandomGraphs) {
  size_t changed = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const auto before = InferTypes(RandomCasts(random));
    if (absl::IsInvalidArgument(before.status())) continue;  // bools are not added
    ASSERT_TRUE(before.ok()) << before.status();
    const auto after = RunOne(*before, TestContext(), "CanonicalizeCast");
    ASSERT_TRUE(after.ok()) << after.status();
    changed += ir::ToText(*before) == ir::ToText(*after) ? 0 : 1;
    const std::vector<Expr> inputs{AwkwardConstant(random, {3, 3})};
    const std::string what = std::to_string(seed) + "\n" + ir::ToText(*before) + ir::ToText(*after);
    ExpectSameBits(InterpretMain(*before, inputs), InterpretMain(*after, inputs), what);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(changed, 500u);
}

TEST(CanonicalizeCast, ReadersInOneKernelShareTheirCast) {
  const ir::Module module = Typed(R"(
def @main(%x: Tensor[(4), float16]) {
  %0 = cast(%x, dtype=float32);
  add(exp(%0), sqrt(%0))
})");
  const auto fused = RunPipeline(module, TestContext(), {.after = "FuseOps", .on_pass = nullptr});
  ASSERT_TRUE(fused.ok()) << fused.status();
  const std::string text = ir::ToText(*fused);
  size_t casts = 0;
  for (size_t at = text.find("cast("); at != std::string::npos; at = text.find("cast(", at + 1)) {
    ++casts;
  }
  EXPECT_EQ(casts, 1u) << text;
}

TEST(CanonicalizeCast, WhatSeveralKernelsReadStaysNarrow) {
  const ir::Module module = Typed(R"(
def @main(%x: Tensor[(4, 8), float16]) {
  %0 = nn.relu(nn.softmax(cast(%x, dtype=float32)));
  %1 = cast(%0, dtype=float16);
  %2 = cast(%1, dtype=float32);
  (sum(%2, axis=[0]), sum(%2, axis=[1]))
})");
  const auto fused = RunPipeline(module, TestContext(), {.after = "FuseOps", .on_pass = nullptr});
  ASSERT_TRUE(fused.ok()) << fused.status();
  const Expr& body = ir::Body(*fused->functions.at("main"));
  for (const Expr& output : body->args) {
    EXPECT_EQ(output->args[0]->type->tensor.dtype, DataType::kFloat16) << ir::ToText(*fused);
  }
}

}  // namespace
}  // namespace hone::passes
