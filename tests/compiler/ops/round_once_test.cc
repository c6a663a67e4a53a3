// Where 16-bit floats of a kernel are rounded.
#include "compiler/ops/round_once.h"

#include <gtest/gtest.h>

#include "compiler/loop/builder.h"
#include "compiler/loop/interpreter.h"
#include "compiler/loop/scalar.h"
#include "compiler/ops/lower.h"
#include "fmt/format.h"

namespace hone::ops {
namespace {

loop::Nest NaiveOf(const std::string& function, const std::string& numerics) {
  const auto def = LowerWorkload(function + " accumulate=float32 numerics=" + numerics);
  EXPECT_TRUE(def.ok()) << def.status();
  return def.ok() ? def->naive : loop::Nest();
}

// The only element of the output, of inputs of one bfloat16 each.
double ResultOf(const loop::Nest& nest, const std::vector<double>& inputs) {
  std::vector<uint16_t> memory(nest.buffers.size());
  std::vector<void*> pointers;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    if (i < inputs.size()) memory[i] = loop::EncodeBFloat16(inputs[i]);
    const bool inside = nest.buffers[i]->role == loop::Role::kWorkspace;
    pointers.push_back(inside ? nullptr : &memory[i]);
  }
  const absl::Status status = loop::Interpret(nest, pointers);
  EXPECT_TRUE(status.ok()) << status;
  return loop::DecodeBFloat16(memory.back());
}

DataType TypeOf(const loop::Nest& nest, const std::string& buffer) {
  for (const loop::Buffer& b : nest.buffers) {
    if (b->name == buffer) return b->dtype;
  }
  ADD_FAILURE() << "no buffer " << buffer << "\n" << loop::ToText(nest);
  return DataType::kBool;
}

constexpr char kThreeInputs[] =
    "fn (p0: Tensor[(1,), bfloat16], p1: Tensor[(1,), bfloat16], p2: Tensor[(1,), bfloat16])";

// Between 256 and 512 bfloat16 are two apart.
TEST(RoundOnce, RoundsWhereTheKernelStores) {
  const std::string sum = fmt::format("{} {{ %0 = add(p0, p1); add(%0, p2) }}", kThreeInputs);
  EXPECT_EQ(ResultOf(NaiveOf(sum, "default"), {256, 1, 1}), 258);
  EXPECT_EQ(ResultOf(NaiveOf(sum, "strict"), {256, 1, 1}), 256);
}

TEST(RoundOnce, KeepsTheCastsOfTheModel) {
  const std::string sum = fmt::format(
      "{} {{ %0 = cast(p0, dtype=float32); %1 = cast(p1, dtype=float32); %2 = add(%0, %1); %3 = "
      "cast(%2, dtype=bfloat16); add(%3, p2) }}",
      kThreeInputs);
  EXPECT_EQ(ResultOf(NaiveOf(sum, "default"), {256, 1, 1}), 256);
}

TEST(RoundOnce, LeavesWhatProductsReadNarrow) {
  const loop::Nest nest = NaiveOf(
      "fn (p0: Tensor[(2, 4), bfloat16], const p1: Tensor[(3, 4), bfloat16], const p2: "
      "Tensor[(3,), bfloat16]) { %0 = nn.relu(p0); %1 = nn.dense(%0, p1); %2 = nn.bias_add(%1, "
      "p2); tanh(%2) }",
      "default");
  EXPECT_EQ(TypeOf(nest, "relu"), DataType::kBFloat16);
  EXPECT_EQ(TypeOf(nest, "dense_cast"), DataType::kFloat32);
  EXPECT_EQ(TypeOf(nest, "bias_add"), DataType::kFloat32);
  EXPECT_EQ(TypeOf(nest, "tanh"), DataType::kBFloat16);
}

TEST(RoundOnce, LeavesWhatOtherLaunchesStoreNarrow) {
  loop::NestBuilder builder("twice");
  const loop::Buffer x = builder.AddInput("x", DataType::kBFloat16, {1});
  const loop::Buffer sum = builder.Compute("sum", DataType::kBFloat16, {1}, [&](const auto& i) {
    return loop::Load(x, i) + loop::Load(x, i);
  });
  const loop::Buffer out = builder.Compute("out", DataType::kBFloat16, {1}, [&](const auto& i) {
    return loop::Load(sum, i) + loop::Load(x, i);
  });
  loop::Nest nest = builder.Finish({out});
  EXPECT_EQ(TypeOf(RoundOnce(nest, {}), "sum"), DataType::kFloat32);
  const loop::Stmt store = loop::Store(sum, {0}, loop::Load(x, {0}));
  loop::Launch twice = nest.launches[0];
  twice.body = loop::Seq({store, store});
  nest.launches.insert(nest.launches.begin() + 1, twice);
  EXPECT_EQ(TypeOf(RoundOnce(nest, {}), "sum"), DataType::kBFloat16);
}

}  // namespace
}  // namespace hone::ops
