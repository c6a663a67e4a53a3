// Concatenations and slices of feature maps need no kernels where parts are whole blocks.
#include <gtest/gtest.h>

#include "compiler/frontend/zoo/net_builder.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::driver {
namespace {

using frontend::NetBuilder;
using ir::Expr;

// Calls of kernels that do nothing but move elements between tensors of one layout.
int MovesOf(const CompileReport& report) {
  int calls = 0;
  for (const KernelReport& kernel : report.kernels) {
    const bool joins = kernel.name.starts_with("concatenate");
    if (joins || kernel.name.starts_with("strided_slice")) calls += kernel.calls;
  }
  return calls;
}

// Compiles, compares with the interpreter's numbers; the calls that move elements.
int CheckedMovesOf(const ir::Module& module) {
  const std::vector<frontend::TensorData> inputs = frontend::InputsOf(module);
  const auto expected = frontend::RunModel(module, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status();
  auto compiled = Compiled::Make(module, {.target = HostTarget(), .require_tuned = false});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!expected.ok() || !compiled.ok()) return -1;
  for (const int threads : {1, 2}) {
    const auto outputs = compiled->Run(inputs, threads);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    for (size_t i = 0; i < expected->size(); ++i) {
      EXPECT_EQ(FirstDifference((*outputs)[i], (*expected)[i], 1e-3, 1e-4), "") << i;
    }
  }
  return MovesOf(compiled->report());
}

TEST(FeatureMapViews, FireModulesMoveNothing) {
  NetBuilder net(1);
  Expr x = net.ConvBiasRelu(net.Image(3, {15, 15}), {32, 3, 2});
  for (const int64_t expand : {32, 64}) {
    const Expr s = net.ConvBiasRelu(x, {16, 1});
    x = net.Concat({net.ConvBiasRelu(s, {expand, 1}), net.ConvBiasRelu(s, {expand, 3, 1, 1})});
  }
  EXPECT_EQ(CheckedMovesOf(net.Finish(net.GlobalAvgPool(x))), 0);
}

// Each concatenation is part of the next one, and all are read.
TEST(FeatureMapViews, ChainsOfConcatenationsMoveNothing) {
  NetBuilder net(2);
  Expr x = net.ConvBiasRelu(net.Image(3, {7, 7}), {32, 3, 1, 1});
  for (int i = 0; i < 4; ++i) {
    const Expr y = net.Conv(net.Relu(net.BatchNorm(x)), {16, 3, 1, 1});
    x = net.Concat({x, y});
  }
  EXPECT_EQ(CheckedMovesOf(net.Finish(net.ConvBiasRelu(x, {16, 1}))), 0);
}

// Three 1x1 convolutions of the same data become one: two slices of it lie in its result, the one
// that is joined is copied there, and nothing else is.
TEST(FeatureMapViews, OfInceptionModulesOneSliceMoves) {
  for (const bool nested : {false, true}) {
    NetBuilder net(3);
    Expr x = net.ConvBiasRelu(net.Image(3, {9, 9}), {48, 3, 1, 1});
    const Expr one = net.ConvBiasRelu(x, {32, 1});
    const Expr three = net.ConvBiasRelu(net.ConvBiasRelu(x, {16, 1}), {32, 3, 1, 1});
    const Expr five = net.ConvBiasRelu(net.ConvBiasRelu(x, {16, 1}), {16, 5, 1, 2});
    const Expr pooled = net.ConvBiasRelu(net.MaxPool(x, {3, 1, 1}), {32, 1});
    x = nested ? net.Concat({one, net.Concat({three, five}), pooled})
               : net.Concat({one, three, five, pooled});
    EXPECT_EQ(CheckedMovesOf(net.Finish(net.ConvBiasRelu(x, {16, 3}))), 1) << nested;
  }
}

// A value has one place: what joins it again copies.
TEST(FeatureMapViews, WhatIsJoinedTwiceIsCopiedOnce) {
  NetBuilder net(4);
  const Expr x = net.ConvBiasRelu(net.Image(16, {6, 6}), {16, 3, 1, 1});
  const Expr y = net.ConvBiasRelu(x, {16, 3, 1, 1});
  const Expr z = net.ConvBiasRelu(y, {16, 3, 1, 1});
  const Expr a = net.ConvBiasRelu(net.Concat({x, y}), {16, 1});
  const Expr b = net.ConvBiasRelu(net.Concat({y, z}), {16, 1});
  EXPECT_EQ(CheckedMovesOf(net.Finish(net.Add(a, b))), 1);
}

Expr ChannelsOf(const Expr& x, int64_t begin, int64_t end) {
  return NetBuilder::Call("strided_slice", {x},
                          {{"axes", std::vector<int64_t>{1}},
                           {"begin", std::vector<int64_t>{begin}},
                           {"end", std::vector<int64_t>{end}}});
}

Expr TupleOf(std::vector<Expr> fields) {
  ir::Type type{.is_tuple = true};
  for (const Expr& field : fields) type.fields.push_back(*field->type);
  return ir::WithType(ir::Tuple(std::move(fields)), std::move(type));
}

// A concatenation of a value that lies in another one copies all: a slice that it reads is part of
// that copy. Whichever of the two is first, the one without slices has the value.
TEST(FeatureMapViews, SlicesOfConcatenationsThatCopyAreNotCopiedTwice) {
  for (const bool sliced_first : {false, true}) {
    NetBuilder net(5);
    const Expr x = net.ConvBiasRelu(net.Image(16, {6, 6}), {48, 3, 1, 1});
    const Expr a = net.ConvBiasRelu(x, {16, 3, 1, 1});
    const Expr b = net.ConvBiasRelu(a, {16, 3, 1, 1});
    const Expr whole = net.ConvBiasRelu(net.Concat({a, b}), {16, 1});
    const Expr sliced = net.ConvBiasRelu(net.Concat({a, ChannelsOf(x, 4, 20)}), {16, 1});
    const Expr sum = sliced_first ? net.Add(sliced, whole) : net.Add(whole, sliced);
    EXPECT_EQ(CheckedMovesOf(net.Finish(sum)), 1) << sliced_first;
  }
}

// The first of two concatenations with slices has the value, and its slice alone is copied.
TEST(FeatureMapViews, OfConcatenationsWithSlicesOneCopiesAll) {
  NetBuilder net(6);
  const Expr x = net.ConvBiasRelu(net.Image(16, {6, 6}), {48, 3, 1, 1});
  const Expr a = net.ConvBiasRelu(x, {16, 3, 1, 1});
  const Expr one = net.ConvBiasRelu(net.Concat({a, ChannelsOf(x, 4, 20)}), {16, 1});
  const Expr two = net.ConvBiasRelu(net.Concat({a, ChannelsOf(x, 20, 36)}), {16, 1});
  EXPECT_EQ(CheckedMovesOf(net.Finish(net.Add(one, two))), 2);
}

// A result of the model lies where its caller has it.
TEST(FeatureMapViews, SlicesBesideResultsAreNotCopiedTwice) {
  NetBuilder net(7);
  const Expr x = net.ConvBiasRelu(net.Image(16, {6, 6}), {48, 3, 1, 1});
  const Expr a = net.ConvBiasRelu(x, {16, 3, 1, 1});
  const Expr joined = net.ConvBiasRelu(net.Concat({a, ChannelsOf(x, 4, 20)}), {16, 1});
  EXPECT_EQ(CheckedMovesOf(net.Finish(TupleOf({joined, a}))), 1);
}

// Both concatenations lie in the outer one's result; each slice is copied there.
TEST(FeatureMapViews, OfNestedConcatenationsThatAreReadSlicesAloneMove) {
  NetBuilder net(8);
  const Expr x = net.ConvBiasRelu(net.Image(16, {6, 6}), {48, 3, 1, 1});
  const Expr a = net.ConvBiasRelu(x, {16, 3, 1, 1});
  const Expr inner = net.Concat({a, ChannelsOf(x, 4, 20)});
  const Expr outer = net.Concat({inner, ChannelsOf(x, 20, 36)});
  const Expr sum = net.Add(net.ConvBiasRelu(inner, {16, 1}), net.ConvBiasRelu(outer, {16, 1}));
  EXPECT_EQ(CheckedMovesOf(net.Finish(sum)), 2);
}

// Behind five channels `a` would begin at 980 bytes and within a block, so that concatenation
// copies and takes no parts: `a` lies in the other one, where the slice alone is copied.
TEST(FeatureMapViews, PartsThatAreCopiedAnywayCanMove) {
  NetBuilder net(10);
  const Expr x = net.ConvBiasRelu(net.Image(16, {7, 7}), {48, 3, 1, 1});
  const Expr five = net.ConvBiasRelu(x, {5, 3, 1, 1});
  const Expr a = net.ConvBiasRelu(x, {16, 3, 1, 1});
  const Expr one = net.ConvBiasRelu(net.Concat({five, a}), {16, 1});
  const Expr two = net.ConvBiasRelu(net.Concat({a, ChannelsOf(x, 4, 20)}), {16, 1});
  const ir::Module module = net.Finish(net.Add(one, two));
  EXPECT_EQ(CheckedMovesOf(module), 2);
  auto compiled = Compiled::Make(module, {.target = HostTarget(), .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const KernelReport& kernel : compiled->report().kernels) {
    EXPECT_NE(kernel.name, "strided_slice_concatenate");
  }
}

// A concatenation that one slice alone reads is in its kernel, and so in that of what joins the
// slice.
TEST(FeatureMapViews, SlicesOfConcatenationsThatOnlyTheyReadAreJoined) {
  NetBuilder net(11);
  const Expr a = net.ConvBiasRelu(net.Image(16, {6, 6}), {16, 3, 1, 1});
  const Expr b = net.ConvBiasRelu(a, {16, 3, 1, 1});
  const Expr c = net.ConvBiasRelu(b, {16, 3, 1, 1});
  const Expr again = net.Concat({c, ChannelsOf(net.Concat({a, b}), 4, 20)});
  EXPECT_EQ(CheckedMovesOf(net.Finish(net.ConvBiasRelu(again, {16, 1}))), 1);
}

// A part that lies in one concatenation is a slice of it, which another one copies.
TEST(FeatureMapViews, SlicesOfWhatIsJoinedAreJoined) {
  NetBuilder net(9);
  const Expr a = net.ConvBiasRelu(net.Image(16, {6, 6}), {16, 3, 1, 1});
  const Expr b = net.ConvBiasRelu(a, {32, 3, 1, 1});
  const Expr c = net.ConvBiasRelu(b, {16, 3, 1, 1});
  const Expr joined = net.Concat({a, b});
  const Expr again = net.Concat({c, ChannelsOf(joined, 16, 32)});
  EXPECT_EQ(CheckedMovesOf(net.Finish(
                net.Add(net.ConvBiasRelu(joined, {16, 1}), net.ConvBiasRelu(again, {16, 1})))),
            1);
}

// Channels that are and are not whole blocks, slices at and beside their bounds, values read in
// several places, inputs and outputs among what is joined.
ir::Module RandomJoins(uint64_t seed, bool many_results) {
  Random random(seed);
  NetBuilder net(seed);
  const int64_t size = 3 + static_cast<int64_t>(random.Below(5));
  std::vector<Expr> values = {net.Image(16, {size, size})};
  const auto channels = [&] {
    constexpr int64_t kSome[] = {4, 5, 8, 16, 16, 24, 32, 48};
    return kSome[random.Below(std::size(kSome))];
  };
  const auto pick = [&] {
    return values[values.size() - 1 - random.Below(std::min<size_t>(values.size(), 5))];
  };
  for (int i = 0; i < 9; ++i) {
    const Expr x = pick();
    switch (random.Below(5)) {
      case 0:
      case 1: {
        std::vector<Expr> parts = {x};
        for (uint64_t n = 1 + random.Below(3); n > 0; --n) parts.push_back(pick());
        values.push_back(net.Concat(std::move(parts)));
        break;
      }
      case 2: {
        const int64_t has = x->type->tensor.shape[1];
        const int64_t begin = static_cast<int64_t>(random.Below(static_cast<uint64_t>(has)));
        const int64_t from = random.Below(4) == 0 ? begin : begin / 16 * 16;
        const int64_t end = random.Below(2) == 0 ? has : std::min(has, from + 16);
        values.push_back(ChannelsOf(x, from, end));
        break;
      }
      case 3:
        values.push_back(net.MaxPool(x, {3, 1, 1}));
        break;
      default:
        values.push_back(net.ConvBiasRelu(x, {channels(), 3, 1, 1}));
    }
    if (values.back()->type->tensor.shape[1] > 160) {
      values.back() = net.Conv(values.back(), {channels(), 1});
    }
  }
  if (many_results) return net.Finish(TupleOf({values.back(), pick(), pick()}));
  if (random.Below(3) == 0) return net.Finish(net.Concat({values.back(), pick()}));
  return net.Finish(values.back());
}

class RandomFeatureMaps : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomFeatureMaps, GiveTheInterpretersNumbers) {
  for (const bool many_results : {false, true}) {
    EXPECT_GE(CheckedMovesOf(RandomJoins(GetParam(), many_results)), 0) << many_results;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFeatureMaps, ::testing::Range<uint64_t>(0, 12));

}  // namespace
}  // namespace hone::driver
