// Repeats, compiled and run: in text, and as ONNX's recurrent operators, Scan and Loop become them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "fmt/format.h"
#include "support/random.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::driver {
namespace {

using frontend::Floats;
using frontend::FloatTensor;
using frontend::IntTensor;
using frontend::OnnxMaker;
using frontend::TensorData;
using ::testing::ElementsAreArray;

int64_t ElementCount(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

TensorData Seeded(std::vector<int64_t> shape, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(ElementCount(shape));
  for (float& value : values) value = static_cast<float>(random.Uniform() - 0.5);
  return FloatTensor(std::move(shape), values);
}

Compiled Make(const ir::Module& module) {
  auto compiled = Compiled::Make(module, {.target = HostTarget(), .require_tuned = false});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return *std::move(compiled);
}

Compiled FromText(const std::string& text) {
  const auto parsed = ir::ParseModule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return Make(*parsed);
}

Compiled FromOnnx(const OnnxMaker& maker) {
  const auto module = frontend::ImportOnnxBytes(maker.Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  return Make(*module);
}

// The same by one thread and by two.
std::vector<TensorData> Outputs(Compiled compiled, const std::vector<TensorData>& inputs) {
  const auto outputs = compiled.Run(inputs, 1);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  const auto again = compiled.Run(inputs, 2);
  EXPECT_TRUE(again.ok()) << again.status();
  for (size_t i = 0; i < outputs->size(); ++i) {
    EXPECT_EQ((*outputs)[i].bytes, (*again)[i].bytes) << "output " << i;
  }
  return *outputs;
}

using Values = std::vector<float>;

// s = s / 2 + x[trip], all of which are stacked; of `width` floats.
std::string Decay(int64_t trips, int64_t width) {
  return fmt::format(R"(
def @main(%x: Tensor[({0}, {1}), float32], %s: Tensor[({1}), float32]) {{
  %0 = @step(%s, %x, trips={0}, states=1, slices=1);
  (%0.0, %0.1)
}}
def @step(%s: Tensor[({1}), float32], %x: Tensor[({1}), float32]) {{
  %0 = multiply(%s, 0.5f32);
  %1 = add(%0, %x);
  (%1, %1)
}}
)",
                     trips, width);
}

TEST(Repeats, OfTwentyThousandTripsOfATinyBody) {
  constexpr int64_t kTrips = 20'000;
  for (const int64_t width : {1, 16, 19}) {
    SCOPED_TRACE(width);
    const TensorData x = Seeded({kTrips, width}, 1);
    const TensorData start = Seeded({width}, 2);
    const auto outputs = Outputs(FromText(Decay(kTrips, width)), {x, start});
    Values s = Floats(start);
    const Values rows = Floats(x);
    Values all;
    for (int64_t t = 0; t < kTrips; ++t) {
      for (int64_t i = 0; i < width; ++i) s[i] = s[i] * 0.5F + rows[t * width + i];
      all.insert(all.end(), s.begin(), s.end());
    }
    EXPECT_EQ(FirstDifference(outputs[0], FloatTensor({width}, s), 1e-6, 1e-6), "");
    EXPECT_EQ(FirstDifference(outputs[1], FloatTensor({kTrips, width}, all), 1e-6, 1e-6), "");
  }
}

// A next state that is stacked too, and that no kernel of the body computes: what all trips share,
// a slice, another state.
TEST(Repeats, StatesThatAreStackedMayBeWhatTheBodyOnlyReads) {
  const auto shared = Outputs(FromText(R"(
def @main(%s: Tensor[(3), float32], %x: Tensor[(3), float32]) {
  %0 = add(%x, %x);
  %1 = @body(%s, %0, trips=5, states=1, slices=0);
  (%1.0, %1.1)
}
def @body(%s: Tensor[(3), float32], %w: Tensor[(3), float32]) { (%w, %w) }
)"),
                              {FloatTensor({3}, {1, 2, 3}), FloatTensor({3}, {4, 5, 6})});
  EXPECT_THAT(Floats(shared[0]), ElementsAreArray({8, 10, 12}));
  EXPECT_THAT(Floats(shared[1]),
              ElementsAreArray({8, 10, 12, 8, 10, 12, 8, 10, 12, 8, 10, 12, 8, 10, 12}));

  const auto slice = Outputs(FromText(R"(
def @main(%s: Tensor[(1), float32], %x: Tensor[(4, 1), float32]) {
  %0 = @body(%s, %x, trips=4, states=1, slices=1);
  (%0.0, %0.1)
}
def @body(%s: Tensor[(1), float32], %x: Tensor[(1), float32]) { (%x, %x) }
)"),
                             {FloatTensor({1}, {9}), FloatTensor({4, 1}, {1, 2, 3, 4})});
  EXPECT_THAT(Floats(slice[0]), ElementsAreArray({4}));
  EXPECT_THAT(Floats(slice[1]), ElementsAreArray({1, 2, 3, 4}));

  const auto fibonacci = Outputs(FromText(R"(
def @main(%a: Tensor[(1), float32], %b: Tensor[(1), float32]) {
  %0 = @body(%a, %b, trips=6, states=2, slices=0);
  (%0.0, %0.1, %0.2)
}
def @body(%a: Tensor[(1), float32], %b: Tensor[(1), float32]) {
  %0 = add(%a, %b);
  (%b, %0, %b)
}
)"),
                                 {FloatTensor({1}, {0}), FloatTensor({1}, {1})});
  EXPECT_THAT(Floats(fibonacci[0]), ElementsAreArray({8}));
  EXPECT_THAT(Floats(fibonacci[1]), ElementsAreArray({13}));
  EXPECT_THAT(Floats(fibonacci[2]), ElementsAreArray({1, 1, 2, 3, 5, 8}));
}

TEST(Repeats, TakeAsManyKernelsHoweverManyTheirTrips) {
  const Compiled few = FromText(Decay(2, 16));
  const Compiled many = FromText(Decay(1'000'000, 16));
  EXPECT_EQ(many.function().call_count, few.function().call_count);
  ASSERT_EQ(many.report().kernels.size(), few.report().kernels.size());
  int64_t calls = 0;
  for (const KernelReport& kernel : many.report().kernels) {
    calls = std::max(calls, kernel.calls);
  }
  EXPECT_EQ(calls, 1'000'000);
}

// States that change places, that stay, and that are stacked before and after; rows that no body
// changes; scanned and stacked from the end.
TEST(Repeats, StatesMayBeAnyOfWhatABodyHas) {
  constexpr int kTrips = 7;
  const auto outputs = Outputs(
      FromText(R"(
def @main(%a: Tensor[(3), float32], %b: Tensor[(3), float32], %x: Tensor[(7, 3), float32]) {
  %0 = exp(%b);
  %1 = @step(%a, %b, %a, %x, %0, trips=7, states=3, slices=1, backwards=[1, 0, 1, 0, 1, 0]);
  (%1.0, %1.1, %1.2, %1.3, %1.4, %1.5, %1.6, %1.7)
}
def @step(%a: Tensor[(3), float32], %b: Tensor[(3), float32], %k: Tensor[(3), float32],
          %x: Tensor[(3), float32], %w: Tensor[(3), float32]) {
  %0 = add(%a, %b);
  %1 = add(%0, %x);
  (%b, %1, %k, %1, %a, %x, %w, %1)
}
)"),
      {FloatTensor({3}, {1, 2, 3}), FloatTensor({3}, {0, 0, 1}), FloatTensor({kTrips, 3}, [] {
         Values x(kTrips * 3);
         std::iota(x.begin(), x.end(), 0.0F);
         return x;
       }())});
  Values a = {1, 2, 3};
  Values b = {0, 0, 1};
  Values next(kTrips * 3), before(kTrips * 3), rows(kTrips * 3);
  for (int t = 0; t < kTrips; ++t) {
    for (int i = 0; i < 3; ++i) {
      const float x = static_cast<float>((kTrips - 1 - t) * 3 + i);
      const float sum = a[i] + b[i] + x;
      next[t * 3 + i] = sum;
      before[(kTrips - 1 - t) * 3 + i] = a[i];
      rows[t * 3 + i] = x;
      a[i] = b[i];
      b[i] = sum;
    }
  }
  EXPECT_THAT(Floats(outputs[0]), ElementsAreArray(a));
  EXPECT_THAT(Floats(outputs[1]), ElementsAreArray(b));
  EXPECT_THAT(Floats(outputs[2]), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(Floats(outputs[3]), ElementsAreArray(next));
  EXPECT_THAT(Floats(outputs[4]), ElementsAreArray(before));
  EXPECT_THAT(Floats(outputs[5]), ElementsAreArray(rows));
  EXPECT_NEAR(Floats(outputs[6])[20], std::exp(1.0F), 1e-6);
  EXPECT_THAT(Floats(outputs[7]), ElementsAreArray(next));
}

// Text of any stage is a model, too; here with constants for what a body reads where it lies.
TEST(Repeats, ComeThroughTheirTextAfterPacking) {
  const auto parsed = ir::ParseModule(R"(
def @main(%w: Tensor[(3), float32]) {
  %0 = @step(meta[Constant][0], meta[Constant][1], meta[Constant][0], %w, trips=2, states=1, slices=1);
  (%0.0, %0.1)
}
def @step(%s: Tensor[(3), float32], %x: Tensor[(3), float32], %k: Tensor[(3), float32],
          %w: Tensor[(3), float32]) {
  %0 = multiply(%s, %w);
  %1 = add(%0, %x);
  %2 = add(%1, %k);
  (%2, %1)
}
meta[Constant][0] = Tensor[(3), float32] "AACAPwAAAEAAAEBA";
meta[Constant][1] = Tensor[(2, 3), float32] "AACAPwAAAEAAAEBAAACAPwAAAEAAAEBA";
)");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto packed = RunPasses(*parsed, HostTarget(), "PackRepeats");
  ASSERT_TRUE(packed.ok()) << packed.status();
  for (const ir::Module& module : {*parsed, *packed}) {
    const auto outputs = Outputs(FromText(ir::ToText(module)), {FloatTensor({3}, {1, 2, 0})});
    // s: (1, 2, 3), (3, 8, 6), (5, 20, 6).
    EXPECT_THAT(Floats(outputs[0]), testing::ElementsAre(5, 20, 6));
    EXPECT_THAT(Floats(outputs[1]), testing::ElementsAre(2, 6, 3, 4, 18, 3));
  }
}

// It is made of shared operands and constants, and is read in the body, stacked, and a next state.
TEST(Repeats, WhatIsTheSameInAllTripsIsRight) {
  const auto outputs = Outputs(FromText(R"(
def @main(%s: Tensor[(2), float32], %x: Tensor[(3, 2), float32], %w: Tensor[(2), float32]) {
  %0 = @step(%s, %s, %x, %w, trips=3, states=2, slices=1);
  (%0.0, %0.1, %0.2, %0.3)
}
def @step(%s: Tensor[(2), float32], %t: Tensor[(2), float32], %x: Tensor[(2), float32],
          %w: Tensor[(2), float32]) {
  %0 = add(%w, 1f32);
  %1 = multiply(%0, %0);
  %2 = multiply(%x, %1);
  %3 = add(%s, %2);
  (%3, %1, %3, %0)
}
)"),
                               {FloatTensor({2}, {1, 2}), FloatTensor({3, 2}, {1, 1, 2, 2, 3, 3}),
                                FloatTensor({2}, {1, 2})});
  EXPECT_THAT(Floats(outputs[0]), testing::ElementsAre(25, 56));
  EXPECT_THAT(Floats(outputs[1]), testing::ElementsAre(4, 9));
  EXPECT_THAT(Floats(outputs[2]), testing::ElementsAre(5, 11, 13, 29, 25, 56));
  EXPECT_THAT(Floats(outputs[3]), testing::ElementsAre(2, 3, 2, 3, 2, 3));
}

// What is alive in all trips must not lie where a trip's own values do.
TEST(Repeats, KeepWhatAllTripsRead) {
  const std::string text = R"(
def @main(%x: Tensor[(50, 64), float32], %w: Tensor[(64), float32]) {
  %0 = exp(%w);
  %1 = @step(%w, %x, %0, trips=50, states=1, slices=1);
  %2 = cumsum(%1.0, axis=0);
  (%2,)
}
def @step(%s: Tensor[(64), float32], %x: Tensor[(64), float32], %e: Tensor[(64), float32]) {
  %0 = cumsum(%x, axis=0);
  %1 = multiply(%0, %e);
  %2 = cumsum(%1, axis=0);
  %3 = cumsum(%2, axis=0);
  %4 = multiply(%s, 0.25f32);
  %5 = add(%4, %3);
  (%5,)
}
)";
  const TensorData x = Seeded({50, 64}, 3);
  const TensorData w = Seeded({64}, 4);
  const auto outputs = Outputs(FromText(text), {x, w});
  std::vector<double> s;
  for (const float value : Floats(w)) s.push_back(value);
  for (int t = 0; t < 50; ++t) {
    std::vector<double> row;
    for (int i = 0; i < 64; ++i) row.push_back(Floats(x)[t * 64 + i]);
    std::partial_sum(row.begin(), row.end(), row.begin());
    for (int i = 0; i < 64; ++i) row[i] *= std::exp(static_cast<double>(Floats(w)[i]));
    std::partial_sum(row.begin(), row.end(), row.begin());
    std::partial_sum(row.begin(), row.end(), row.begin());
    for (int i = 0; i < 64; ++i) s[i] = s[i] / 4 + row[i];
  }
  std::partial_sum(s.begin(), s.end(), s.begin());
  EXPECT_EQ(FirstDifference(outputs[0], FloatTensor({64}, {s.begin(), s.end()}), 1e-4, 1e-2), "");
}

// ---- recurrent operators: a long sequence is the same as its parts one after the other ----

struct Recurrent {
  std::string op;
  std::string direction = "forward";
  bool lengths = false;
  bool linear_before_reset = false;
  bool peepholes = false;
};

constexpr int64_t kSteps = 40;
constexpr int64_t kBatch = 2;
constexpr int64_t kInputs = 3;
constexpr int64_t kHidden = 5;

class RecurrentMaker {
 public:
  explicit RecurrentMaker(const Recurrent& of) : of_(of), maker_(14) {
    const int64_t gates = of.op == "LSTM" ? 4 : of.op == "GRU" ? 3 : 1;
    const auto weight = [&](const std::string& name, std::vector<int64_t> shape, uint64_t seed) {
      maker_.Initializer(name, Seeded(std::move(shape), seed));
    };
    const int64_t d = directions();
    weight("w", {d, gates * kHidden, kInputs}, 1);
    weight("r", {d, gates * kHidden, kHidden}, 2);
    weight("b", {d, 2 * gates * kHidden}, 3);
    weight("p", {d, 3 * kHidden}, 4);
    weight("h0", {d, kBatch, kHidden}, 5);
    weight("c0", {d, kBatch, kHidden}, 6);
    maker_.Input("x", {kSteps, kBatch, kInputs});
  }

  int64_t directions() const { return of_.direction == "bidirectional" ? 2 : 1; }

  // Steps [begin, end) of x as `name`, from the state `before` to the state `after`.
  void Part(const std::string& x, int64_t begin, int64_t end, const std::string& before,
            const std::string& after) {
    const bool lstm = of_.op == "LSTM";
    std::string lengths;
    if (of_.lengths) {
      lengths = "len" + after;
      std::vector<int32_t> values;
      for (const int64_t length : {kSteps - 3, kSteps / 2}) {
        values.push_back(static_cast<int32_t>(std::clamp(length - begin, int64_t{0}, end - begin)));
      }
      TensorData tensor{DataType::kInt32, {kBatch}, {}};
      tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), 4 * values.size());
      maker_.Initializer(lengths, tensor);
    }
    std::vector<std::string> operands = {x, "w", "r", "b", lengths, "h" + before};
    std::vector<std::string> results = {"y" + after, "h" + after};
    if (lstm) {
      operands.push_back("c" + before);
      results.push_back("c" + after);
    }
    if (of_.peepholes) operands.emplace_back("p");
    maker_.Node(of_.op, operands, results)
        .Int("hidden_size", kHidden)
        .String("direction", of_.direction);
    if (of_.linear_before_reset) maker_.Int("linear_before_reset", 1);
  }

  OnnxMaker Whole() {
    Part("x", 0, kSteps, "0", "1");
    maker_.Output("y1").Output("h1");
    if (of_.op == "LSTM") maker_.Output("c1");
    return maker_;
  }

  // In parts of at most 16 steps, which are written out.
  OnnxMaker InParts() {
    maker_.Initializer("parts", IntTensor({3}, {16, 16, 8}))
        .Node("Split", {"x", "parts"}, {"x0", "x1", "x2"})
        .Int("axis", 0);
    const bool backwards = of_.direction == "reverse";
    std::string before = "0";
    const int64_t begins[] = {0, 16, 32, kSteps};
    for (int i = 0; i < 3; ++i) {
      const int part = backwards ? 2 - i : i;
      const std::string after = fmt::format("_{}", part);
      Part(fmt::format("x{}", part), begins[part], begins[part + 1], before, after);
      before = after;
    }
    maker_.Node("Concat", {"y_0", "y_1", "y_2"}, {"y"}).Int("axis", 0);
    maker_.Output("y").Output("h" + before);
    if (of_.op == "LSTM") maker_.Output("c" + before);
    return maker_;
  }

 private:
  const Recurrent of_;
  OnnxMaker maker_;
};

TEST(RecurrentRepeats, GiveWhatTheirPartsGive) {
  for (const Recurrent& of :
       {Recurrent{"LSTM"}, Recurrent{"LSTM", "reverse"},
        Recurrent{"LSTM", "forward", true, false, true}, Recurrent{"GRU"},
        Recurrent{"GRU", "reverse", true}, Recurrent{"GRU", "forward", false, true},
        Recurrent{"RNN"}, Recurrent{"RNN", "reverse", true}}) {
    SCOPED_TRACE(
        fmt::format("{} {} {} {}", of.op, of.direction, of.lengths, of.linear_before_reset));
    const TensorData x = Seeded({kSteps, kBatch, kInputs}, 9);
    Compiled whole = FromOnnx(RecurrentMaker(of).Whole());
    Compiled parts = FromOnnx(RecurrentMaker(of).InParts());
    EXPECT_LT(whole.function().call_count, 20U);
    const auto found = Outputs(std::move(whole), {x});
    const auto expected = Outputs(std::move(parts), {x});
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(FirstDifference(found[i], expected[i], 1e-5, 1e-6), "") << "output " << i;
    }
  }
}

// Both directions are in one repeat.
TEST(RecurrentRepeats, OfBothDirectionsGiveWhatEachGives) {
  const TensorData x = Seeded({kSteps, kBatch, kInputs}, 9);
  const auto both = Outputs(FromOnnx(RecurrentMaker({"LSTM", "bidirectional"}).Whole()), {x});
  const auto first = Outputs(FromOnnx(RecurrentMaker({"LSTM"}).Whole()), {x});
  ASSERT_THAT(both[0].shape, testing::ElementsAre(kSteps, 2, kBatch, kHidden));
  constexpr int64_t kRow = kBatch * kHidden;
  const Values y = Floats(both[0]);
  Values forward;
  for (int64_t t = 0; t < kSteps; ++t) {
    forward.insert(forward.end(), y.begin() + 2 * t * kRow, y.begin() + (2 * t + 1) * kRow);
  }
  // The seeded weights of the first direction are those of a single one.
  EXPECT_EQ(
      FirstDifference(FloatTensor({kSteps, 1, kBatch, kHidden}, forward), first[0], 1e-5, 1e-6),
      "");
  // The state that the second ends in is that of step 0.
  const Values h = Floats(both[1]);
  EXPECT_THAT(Values(h.begin() + kRow, h.end()),
              ElementsAreArray(Values(y.begin() + kRow, y.begin() + 2 * kRow)));
}

// ---- Scan and Loop ----

// Carries s: s = s / 2 + trip + x; scans s.
OnnxMaker LoopModel(int64_t trips) {
  OnnxMaker maker(16);
  maker.Input("x", {2})
      .Initializer("trips", IntTensor({}, {trips}))
      .Initializer("start", FloatTensor({2}, {10, 20}))
      .Initializer("half", FloatTensor({}, {0.5}))
      .Node("Loop", {"trips", "", "start"}, {"last", "all"})
      .Output("last")
      .Output("all");
  OnnxMaker body;
  body.Input("i", {}, DataType::kInt64)
      .Input("going", {}, DataType::kBool)
      .Input("s", {2})
      .Node("Identity", {"going"}, {"still"})
      .Node("Cast", {"i"}, {"number"})
      .Int("to", 1)
      .Node("Mul", {"s", "half"}, {"a"})
      .Node("Add", {"a", "number"}, {"b"})
      .Node("Add", {"b", "x"}, {"t"})
      .Node("Identity", {"t"}, {"seen"})
      .Output("still")
      .Output("t")
      .Output("seen");
  maker.Graph("body", body);
  return maker;
}

TEST(LoopRepeats, HaveTheNumbersOfTheirTrips) {
  for (const int64_t trips : {5, 16, 17, 3000}) {
    SCOPED_TRACE(trips);
    Compiled loop = FromOnnx(LoopModel(trips));
    if (trips > 16) {
      EXPECT_LT(loop.function().call_count, 8U);
    }
    const auto outputs = Outputs(std::move(loop), {FloatTensor({2}, {1, 2})});
    Values s = {10, 20};
    Values all;
    for (int64_t t = 0; t < trips; ++t) {
      for (int i = 0; i < 2; ++i) {
        s[i] = s[i] * 0.5F + static_cast<float>(t) + static_cast<float>(i + 1);
      }
      all.insert(all.end(), s.begin(), s.end());
    }
    EXPECT_EQ(FirstDifference(outputs[0], FloatTensor({2}, s), 1e-6, 0), "");
    EXPECT_EQ(FirstDifference(outputs[1], FloatTensor({trips, 2}, all), 1e-6, 0), "");
  }
}

TEST(ScanRepeats, ReadAndWriteAlongAnyAxisEitherWay) {
  constexpr int64_t kTrips = 30;
  OnnxMaker maker(16);
  maker.Input("x", {2, kTrips})
      .Initializer("start", FloatTensor({2}, {0, 0}))
      .Node("Scan", {"start", "x"}, {"last", "all"})
      .Int("num_scan_inputs", 1)
      .Ints("scan_input_axes", {1})
      .Ints("scan_input_directions", {1})
      .Ints("scan_output_axes", {-1})
      .Ints("scan_output_directions", {1})
      .Output("all");
  OnnxMaker body;
  body.Input("s", {2}).Input("v", {2}).Node("Add", {"s", "v"}, {"t"});
  body.Node("Identity", {"t"}, {"seen"}).Output("t").Output("seen");
  maker.Graph("body", body);
  Values x(2 * kTrips);
  std::iota(x.begin(), x.end(), 0.0F);
  const auto outputs = Outputs(FromOnnx(maker), {FloatTensor({2, kTrips}, x)});
  Values expected(2 * kTrips);
  for (int64_t row = 0; row < 2; ++row) {
    float sum = 0;
    for (int64_t t = kTrips - 1; t >= 0; --t) {
      sum += x[row * kTrips + t];
      expected[row * kTrips + t] = sum;
    }
  }
  EXPECT_THAT(outputs[0].shape, testing::ElementsAre(2, kTrips));
  EXPECT_THAT(Floats(outputs[0]), ElementsAreArray(expected));
}

}  // namespace
}  // namespace hone::driver
