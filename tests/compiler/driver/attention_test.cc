// Attention as one kernel computes what it does as three.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "compiler/ir/parser.h"
#include "compiler/schedule/template.h"
#include "support/random.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

using frontend::TensorData;

TensorData Draw(Random& random, std::vector<int64_t> shape, bool mask) {
  TensorData tensor{DataType::kFloat32, std::move(shape), ""};
  int64_t count = 1;
  for (const int64_t extent : tensor.shape) count *= extent;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    const double drawn = random.Uniform();
    value = mask ? (drawn < 0.3 ? -1e9F : 0.0F) : static_cast<float>(4 * drawn - 2);
  }
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

struct Sizes {
  int64_t batch, heads, rows, keys, depth;
};

// With `all`, the scores are a result too: then they are computed apart.
std::string Model(const Sizes& n, bool all) {
  return fmt::format(
      "def @main(%q: Tensor[({5}, {2}, {4}), float32], %k: Tensor[({5}, {4}, {3}), float32], %v: "
      "Tensor[({5}, {3}, {4}), float32], %m: Tensor[({0}, 1, 1, {3}), float32]) {{\n"
      "%0 = nn.batch_matmul(%q, transpose(%k, axes=[0, 2, 1]));\n"
      "%1 = multiply(reshape(%0, newshape=[{0}, {1}, {2}, {3}]), 0.3f32);\n"
      "%2 = nn.softmax(add(%1, %m), axis=-1);\n"
      "%3 = nn.batch_matmul(reshape(%2, newshape=[{5}, {2}, {3}]), transpose(%v, axes=[0, 2, "
      "1]));\n{6} }}",
      n.batch, n.heads, n.rows, n.keys, n.depth, n.batch * n.heads, all ? "(%3, %0)" : "%3");
}

TEST(AttentionKernel, ComputesWhatThreeKernelsDo) {
  Random random(7);
  CompileOptions options;
  options.target = HostTarget();
  for (const Sizes& n : {Sizes{1, 2, 40, 64, 32}, Sizes{2, 3, 33, 65, 17}, Sizes{3, 1, 1, 7, 5}}) {
    const int64_t stacks = n.batch * n.heads;
    const std::vector<TensorData> inputs = {Draw(random, {stacks, n.rows, n.depth}, false),
                                            Draw(random, {stacks, n.depth, n.keys}, false),
                                            Draw(random, {stacks, n.keys, n.depth}, false),
                                            Draw(random, {n.batch, 1, 1, n.keys}, true)};
    std::vector<TensorData> results;
    size_t kernels[2];
    for (const bool all : {false, true}) {
      const auto module = ir::ParseModule(Model(n, all));
      ASSERT_TRUE(module.ok()) << module.status();
      auto compiled = Compiled::Make(*module, options);
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      kernels[all] = compiled->report().kernels.size();
      const auto outputs = compiled->Run(inputs, 1);
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      results.push_back((*outputs)[0]);
    }
    EXPECT_EQ(kernels[0], 1u);
    EXPECT_GE(kernels[1], 3u);
    EXPECT_EQ(FirstDifference(results[0], results[1], 1e-4, 1e-5), "");
  }
}

// Graphs that are attention, or nearly: moved, biased and computed operands, scores scaled, masked
// and reshaped, values read elsewhere too.
class RandomAttention {
 public:
  explicit RandomAttention(Random& random) : random_(random) {}

  std::string Text() {
    const std::string query = Operand(rows_, depth_);
    const std::string keys = Operand(keys_, depth_);
    const std::string scores = Let("nn.batch_matmul({}, {})", query, keys);
    std::string weights = Softmax(Changed(scores, 4));
    if (OneIn(16)) weights = Let("nn.relu({})", weights);
    const bool by_keys = depth_ == keys_ && units_ == keys_ && OneIn(2);
    const std::string values = by_keys ? keys : Operand(units_, keys_);
    std::string result = Let("nn.batch_matmul({}, {})", weights, values);
    if (OneIn(2)) result = Behind(result);
    if (OneIn(12)) result = fmt::format("({}, {})", result, OneIn(2) ? scores : weights);
    return fmt::format("def @main({}) {{\n{}{} }}", params_, body_, result);
  }

 private:
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  int64_t Extent() {
    constexpr int64_t kExtents[] = {1, 2, 5, 7, 16, 17};
    return kExtents[random_.Below(std::size(kExtents))];
  }

  template <typename... Args>
  std::string Let(fmt::format_string<Args...> expression, Args&&... args) {
    const std::string name = fmt::format("%{}", values_++);
    body_ += fmt::format("{} = {};\n", name, fmt::format(expression, std::forward<Args>(args)...));
    return name;
  }

  std::string Param(const std::vector<int64_t>& shape) {
    const std::string name = fmt::format("%p{}", count_++);
    params_ += fmt::format("{}{}: Tensor[({},), float32]", count_ == 1 ? "" : ", ", name,
                           fmt::join(shape, ", "));
    return name;
  }

  // A stack of matrices.
  std::string Operand(int64_t rows, int64_t columns) {
    switch (random_.Below(6)) {
      case 0:
        return Let("transpose({}, axes=[0, 2, 1])", Param({heads_, columns, rows}));
      case 1: {  // heads beside each other, with a bias
        std::string x = Param({rows, heads_ * columns});
        if (OneIn(2)) x = Let("add({}, {})", x, Param({heads_ * columns}));
        x = Let("reshape({}, newshape=[{}, {}, {}])", x, rows, heads_, columns);
        return Let("transpose({}, axes=[1, 0, 2])", x);
      }
      case 2: {  // one of three parts
        const std::string x = Param({3 * heads_, rows, columns});
        return Let("strided_slice({}, axes=[0], begin=[{}], end=[{}])", x, heads_, 2 * heads_);
      }
      case 3:
        return Let("exp({})", Param({heads_, rows, columns}));
      case 4:
        if (OneIn(3)) return Let("nn.softmax({})", Param({heads_, rows, columns}));
        [[fallthrough]];
      default:
        return Param({heads_, rows, columns});
    }
  }

  // By batch and head, where `split_`.
  std::vector<int64_t> ScoresShape() const {
    if (split_) return {batch_, heads_ / batch_, rows_, keys_};
    return {heads_, rows_, keys_};
  }

  std::string Mask() {
    std::vector<int64_t> shape = ScoresShape();
    for (int64_t& extent : shape) {
      if (OneIn(2)) extent = 1;
    }
    const std::string mask = Param(shape);
    return OneIn(3) ? Let("multiply(subtract(1f32, {}), -100f32)", mask) : mask;
  }

  std::string Changed(std::string scores, int most) {
    for (uint64_t steps = random_.Below(static_cast<uint64_t>(most) + 1); steps > 0; --steps) {
      scores = ChangedOnce(scores);
    }
    return scores;
  }

  std::string ChangedOnce(const std::string& scores) {
    switch (random_.Below(12)) {
      case 0:
        return Let("divide({}, 2f32)", scores);
      case 1:
        return Let("tanh({})", scores);
      case 2:
        return Let("add({}, {})", Mask(), scores);
      case 3:
        return Let("multiply({}, {})", scores, Mask());
      case 4:
        if (!OneIn(3)) return Let("add({}, {})", scores, Mask());
        return Let("add({}, nn.relu({}))", scores, scores);
      case 5:
        if (!OneIn(3)) return scores;
        return Let("transpose(transpose({0}, axes={1}), axes={1})", scores,
                   split_ ? "[0, 1, 3, 2]" : "[0, 2, 1]");
      case 6: {  // other rows and back
        if (!OneIn(3)) return scores;
        const std::string flat = Let("reshape({}, newshape=[{}])", scores, heads_ * rows_ * keys_);
        return Let("reshape({}, newshape=[{}])", flat, fmt::join(ScoresShape(), ", "));
      }
      case 7: {
        if (!OneIn(3)) return scores;
        const std::string half = Let("cast({}, dtype=\"float16\")", scores);
        return Let("cast({}, dtype=\"float32\")", half);
      }
      default:
        split_ = !split_;
        return Let("reshape({}, newshape=[{}])", scores, fmt::join(ScoresShape(), ", "));
    }
  }

  // Its results a stack again.
  std::string Softmax(const std::string& scores) {
    const int64_t rank = split_ ? 4 : 3;
    const int64_t axis = OneIn(16) ? rank - 2 : OneIn(2) ? rank - 1 : -1;
    std::string weights = Let("nn.softmax({}, axis={})", scores, axis);
    if (!split_) return weights;
    return Let("reshape({}, newshape=[{}, {}, {}])", weights, heads_, rows_, keys_);
  }

  std::string Behind(const std::string& result) {
    switch (random_.Below(6)) {
      case 0:
        return Let("nn.relu({})", result);
      case 1:
        return Let("add({}, {})", result, Param({heads_, rows_, units_}));
      case 2:
        return Let("add({}, {})", result, Param({units_}));
      case 3:
        return Let("transpose({}, axes=[1, 0, 2])", result);
      case 4:
        return Let("cast({}, dtype=\"float16\")", result);
      default:
        return Let("nn.softmax({})", result);
    }
  }

  Random& random_;
  const int64_t batch_ = 1 + static_cast<int64_t>(random_.Below(2));
  const int64_t heads_ = batch_ * (1 + static_cast<int64_t>(random_.Below(3)));
  const int64_t rows_ = Extent(), keys_ = Extent(), depth_ = Extent(), units_ = Extent();
  bool split_ = false;
  std::string params_, body_;
  int count_ = 0;
  int values_ = 0;
};

int CountOf(const ops::KernelDefinition& def, std::string_view name) {
  return static_cast<int>(std::count_if(def.ops.begin(), def.ops.end(),
                                        [&](const ops::OpStage& op) { return op.op == name; }));
}

// Two products in one kernel that no template takes are slower than two kernels.
TEST(AttentionKernel, WhateverPassesJoinIsOfItsTemplate) {
  Random random(11);
  const CpuTarget target = HostTarget();
  int joined = 0;
  int apart = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = RandomAttention(random).Text();
    const auto module = ir::ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    const auto tasks = TasksOf(*module, target);
    ASSERT_TRUE(tasks.ok()) << tasks.status() << "\n" << text;
    for (const TuningTask& task : tasks->tasks) {
      const int products = CountOf(*task.def, "nn.batch_matmul");
      if (products == 1) ++apart;
      if (products < 2) continue;
      ++joined;
      EXPECT_EQ(schedule::TemplateFor(*task.def).name(), "attention") << text;
    }
    if (HasFailure()) return;
  }
  EXPECT_GE(joined, 200);
  EXPECT_GE(apart, 200);
}

}  // namespace
}  // namespace hone::driver
