#include <cmath>
#include <functional>
#include <limits>

#include "compiler/loop/interpreter.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

TEST(Rows, EveryConfigComputesWhatTheNaiveNestDoes) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  const char* const kernels[] = {
      "fn (p0: Tensor[(4, 35), float32]) { nn.softmax(p0) }",
      "fn (p0: Tensor[(1, 2, 3, 17), float32]) { nn.log_softmax(p0, axis=3) }",
      "fn (p0: Tensor[(2, 3, 33), float32], p1: Tensor[(1, 1, 33), float32]) { %0 = add(p0, p1); "
      "nn.softmax(%0, axis=-1) }",
      "fn (p0: Tensor[(3, 2, 20), float32], const p1: Tensor[(20,), float32], const p2: "
      "Tensor[(20,), float32]) { nn.layer_norm(p0, p1, p2, axis=[2]) }",
      "fn (p0: Tensor[(2, 3, 9), float32]) { nn.layer_norm(p0, axis=[1, 2]) }",
      "fn (p0: Tensor[(2, 16, 4, 5), float32]) { mean(p0, axis=[2, 3]) }",
      "fn (p0: Tensor[(2, 18, 3, 5), float32]) { nn.layer_norm(p0, axis=[2, 3]) }",
      "fn (p0: Tensor[(1, 32, 3, 5), float32]) { nn.layer_norm(p0, axis=[2, 3]) }",
      "fn (p0: Tensor[(2, 16, 3, 5), float32], const p1: Tensor[(16, 1, 1), float32], p2: "
      "Tensor[(2, 16, 3, 5), float32]) { %0 = nn.layer_norm(p0, axis=[2, 3]); %1 = multiply(%0, "
      "p1); %2 = nn.relu(%1); %3 = multiply(%2, %2); add(%3, p2) }",
      "fn (p0: Tensor[(1, 16, 3, 5), float32]) { %0 = reshape(p0, newshape=[1, 4, -1]); "
      "nn.layer_norm(%0, axis=[2]) }",
      "fn (p0: Tensor[(1, 32, 2, 3), float32]) { mean(p0, axis=[2, 3], keepdims=true) }",
      "fn (p0: Tensor[(2, 3, 3, 5, 7), float32]) { sum(p0, axis=[2, 3, 4], keepdims=true) }",
      "fn (p0: Tensor[(2, 40), float32]) { %0 = sum(p0, axis=[1], keepdims=true); divide(p0, %0) }",
      "fn (p0: Tensor[(8, 83), float32]) { nn.softmax(p0) }",
      "fn (p0: Tensor[(8, 83), float32]) { nn.log_softmax(p0) }",
      "fn (p0: Tensor[(7, 37), float32]) { max(p0, axis=[1], keepdims=true) }",
      "fn (p0: Tensor[(2, 4, 37), float32]) { argmax(p0, axis=2, keepdims=true) }",
      "fn (p0: Tensor[(8, 75), float32]) { argmin(p0, axis=-1, select_last_index=true) }",
      "fn (p0: Tensor[(6, 21), int32]) { argmax(p0, axis=1, select_last_index=true) }",
      "fn (p0: Tensor[(3, 21), bool]) { argmin(p0, axis=1) }",
      "fn (p0: Tensor[(3, 21), bool]) { argmax(p0, axis=1) }",
      "fn (p0: Tensor[(5, 33), uint8]) { argmin(p0, axis=1) }",
      "fn (p0: Tensor[(2, 35, 2), float32]) { nn.softmax(p0, axis=1) }",
      "fn (p0: Tensor[(4, 18, 1, 3), float32]) { nn.log_softmax(p0, axis=1) }",
      "fn (p0: Tensor[(1, 3, 40, 2), float32]) { %0 = nn.relu(p0); nn.softmax(%0, axis=2) }",
      "fn (p0: Tensor[(5, 37, 3), float32]) { mean(p0, axis=[1]) }",
      "fn (p0: Tensor[(4, 21, 2), float32]) { argmax(p0, axis=1, keepdims=true) }"};
  int checked = 0;
  uint64_t seed = 1;
  for (const char* kernel : kernels) {
    for (const CpuTarget& target : {wide, narrow}) {
      checked += CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default", "rows",
                               target, 6, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 60);
}

// Fewer results than threads can share are summed in parts; a result without axes too, by one
// thread, since only so it is summed by lanes.
TEST(Rows, FewResultsAreReducedInParts) {
  const char* const kernels[] = {
      "fn (p0: Tensor[(1, 8, 12, 7), float32]) { mean(p0, axis=[1, 2, 3], keepdims=true) }",
      "fn (p0: Tensor[(48, 5), float32]) { sum(p0, axis=[0, 1]) }",
      "fn (p0: Tensor[(2, 96), float32]) { %0 = nn.relu(p0); %1 = sum(%0, axis=[1]); sqrt(%1) }",
      "fn (p0: Tensor[(3, 7, 64), float32]) { max(p0, axis=[1, 2]) }",
      "fn (p0: Tensor[(64,), float32]) { prod(p0, axis=[0]) }"};
  int checked = 0;
  uint64_t seed = 1;
  for (const char* kernel : kernels) {
    for (const int threads : {1, 2, 4}) {
      const CpuTarget target = TestTarget(
          fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads={}", threads));
      checked += CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default", "rows",
                               target, 8, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 100);
}

// Lanes of blocks are channels: of rows that go across these, or over pixels of one axis alone,
// none would be neighbours.
TEST(Rows, NormalisationsTakeBlocksWhereChannelsCanBeLanes) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4");
  const auto layouts = [&](const std::string& call) {
    const ops::KernelDefinition def = MustLower("fn (p0: Tensor[(1, 32, 6, 8), float32]) { " +
                                                call + " } accumulate=float32 numerics=default");
    std::vector<std::string> texts;
    for (const auto& signature : TemplateFor(def).Signatures(def, machine::Machine::For(target))) {
      texts.push_back(signature.ToString());
    }
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(layouts("nn.layer_norm(p0, axis=[2, 3])"), (Texts{"NCHW16c->NCHW16c", "NCHW->NCHW"}));
  EXPECT_EQ(layouts("nn.layer_norm(p0, axis=[3])"), Texts{"NCHW->NCHW"});
  EXPECT_EQ(layouts("nn.layer_norm(p0, axis=[1, 2, 3])"), Texts{"NCHW->NCHW"});
  EXPECT_EQ(layouts("%0 = reshape(p0, newshape=[1, 4, -1]); nn.layer_norm(%0, axis=[2])"),
            Texts{"NCHW->NCW"});
  EXPECT_EQ(layouts("mean(p0, axis=[2, 3])"), (Texts{"NCHW16c->NC", "NCHW->NC"}));
}

Config DefaultOfRows(const std::string& kernel, int threads, const std::string& cpu = "x86-64-v4") {
  const ops::KernelDefinition def = MustLower(kernel + " accumulate=float32 numerics=default");
  const Template& templ = TemplateFor(def);
  const CpuTarget target =
      TestTarget(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={} -threads={}", cpu, threads));
  return DefaultOfTask({&def, templ.Signatures(def, machine::Machine::For(target))[0], target});
}

TEST(Rows, OfSoftmaxTakeTurnsStageByStageWhereTheyFillRegisters) {
  EXPECT_EQ(
      DefaultOfRows("fn (p0: Tensor[(8, 49), float32]) { nn.softmax(p0) }", 1).String("overlap"),
      "first")
      << "the core sees the next row";
  EXPECT_EQ(
      DefaultOfRows("fn (p0: Tensor[(8, 768), float32]) { nn.softmax(p0) }", 1).String("overlap"),
      "first")
      << "in loops";
  const std::string softmax = "fn (p0: Tensor[(8, 128), float32]) { nn.softmax(p0) }";
  EXPECT_EQ(DefaultOfRows(softmax, 1).String("overlap"), "all");
  EXPECT_EQ(DefaultOfRows(softmax, 1, "x86-64-v3").String("overlap"), "first") << "narrow vectors";
  const std::string norm = "fn (p0: Tensor[(8, 128), float32]) { nn.layer_norm(p0, axis=[1]) }";
  EXPECT_EQ(DefaultOfRows(norm, 1).String("overlap"), "first") << "short stages";
}

TEST(Rows, RecordsOfBeforeKeepTheirOverlap) {
  const ops::KernelDefinition def = MustLower(
      "fn (p0: Tensor[(8, 128), float32]) { nn.softmax(p0) } accumulate=float32 numerics=default");
  const Template& templ = TemplateFor(def);
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const Task task{&def, templ.Signatures(def, machine::Machine::For(target))[0], target};
  Config before;
  before.Set("strategy", std::string("rows"));
  before.Set("lanes", int64_t{16});
  before.Set("row", std::string("registers"));
  before.Set("parts", int64_t{4});
  before.Set("unroll", int64_t{4});
  before.Set("together", int64_t{4});
  const std::optional<Config> now = SpaceOfTask(task).Migrate(before);
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(now->String("overlap"), "first");
}

TEST(Rows, LongSumsOfFewResultsAreSharedByDefault) {
  const std::string mean =
      "fn (p0: Tensor[(1, 802816), float32]) { mean(p0, axis=[1], keepdims=true) }";
  EXPECT_EQ(DefaultOfRows(mean, 1).String("strategy"), "rows");
  EXPECT_EQ(DefaultOfRows(mean, 2).String("strategy"), "parts");
  EXPECT_EQ(DefaultOfRows(mean, 2).Int("shares"), 2);
  const std::string few = "fn (p0: Tensor[(1, 4096), float32]) { sum(p0, axis=[1]) }";
  EXPECT_EQ(DefaultOfRows(few, 2).String("strategy"), "rows")
      << "over before another thread is there";
  const std::string even = "fn (p0: Tensor[(4, 65536), float32]) { sum(p0, axis=[1]) }";
  EXPECT_EQ(DefaultOfRows(even, 4).String("strategy"), "rows") << "each thread has a row";
  EXPECT_EQ(DefaultOfRows(even, 3).String("strategy"), "rows") << "no three parts";
  EXPECT_EQ(DefaultOfRows(even, 8).String("strategy"), "parts");
  const std::string many = "fn (p0: Tensor[(200, 4096), float32]) { sum(p0, axis=[1]) }";
  EXPECT_EQ(DefaultOfRows(many, 64).String("strategy"), "rows") << "parts of 64 elements";
  const std::string scalar = "fn (p0: Tensor[(4096,), float32]) { sum(p0, axis=[0]) }";
  for (const int threads : {1, 2})
    EXPECT_EQ(DefaultOfRows(scalar, threads).String("strategy"), "parts");
}

// The default and seven random configs of the kernel, by their number.
void ForEightConfigs(
    const std::string& kernel,
    const std::function<void(const loop::Nest&, const Config&, size_t number)>& check) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const ops::KernelDefinition def = MustLower(kernel + " accumulate=float32 numerics=default");
  const Template& templ = TemplateFor(def);
  const Task task{&def, templ.Signatures(def, machine::Machine::For(target))[0], target};
  const Space space = SpaceOfTask(task);
  Random random(5);
  for (size_t number = 0; number < 8; ++number) {
    const Config config = number == 0 ? DefaultOfTask(task) : space.Sample(random);
    const auto nest = NestOfConfig(task, config);
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    check(*nest, config, number);
  }
}

// The maximum of a softmax may lose a NaN: its results must not.
TEST(Rows, NanInARowOfASoftmaxIsInAllOfIt) {
  const auto check = [](const loop::Nest& nest, const Config& config, size_t number) {
    std::vector<float> x(3 * 37, 1);
    std::vector<float> y(3 * 37);
    x[37 + number * 5] = std::numeric_limits<float>::quiet_NaN();
    std::vector<void*> buffers(nest.buffers.size());
    buffers.front() = x.data();
    buffers.back() = y.data();
    ASSERT_TRUE(loop::Interpret(nest, buffers).ok());
    for (size_t at = 0; at < y.size(); ++at) {
      EXPECT_EQ(std::isnan(y[at]), at / 37 == 1) << config.ToText() << " at " << at;
    }
  };
  for (const char* op : {"nn.softmax", "nn.log_softmax"}) {
    ForEightConfigs(std::string("fn (p0: Tensor[(3, 37), float32]) { ") + op + "(p0) }", check);
  }
}

// The first NaN is where the largest element is, whatever lanes and parts they are in.
TEST(Rows, FindTheFirstNan) {
  std::vector<double> x(2 * 83, 1);
  x[3] = 2;
  for (const size_t at : {83 + 7, 83 + 40, 83 + 82}) {
    x[at] = std::numeric_limits<double>::quiet_NaN();
  }
  ForEightConfigs("fn (p0: Tensor[(2, 83), float32]) { argmax(p0, axis=1) }",
                  [&](const loop::Nest& nest, const Config& config, size_t) {
                    const std::vector<double> found = RunNest(nest, 1, false, {{"p0", x}})[0];
                    EXPECT_EQ(found, (std::vector<double>{3, 7})) << config.ToText();
                  });
}

// Reductions of outer axes, and of what is not a row, keep the generic template.
// A view that took an axis of one index away is read along the axis before that.
TEST(Rows, MayBeReadThroughAViewWithAUnitAxis) {
  const ops::KernelDefinition def = MustLower(
      "fn (p0: Tensor[(8, 64, 1), float32]) { %0 = reshape(p0, newshape=[8, 64]); "
      "nn.softmax(%0, axis=-1) } accumulate=float32 numerics=default");
  EXPECT_EQ(TemplateFor(def).name(), "rows");
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4");
  EXPECT_GE(CheckTemplate(def.workload.text, "rows", target, 6, 1), 6);
}

TEST(Rows, LeavesOtherReductions) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const char* const kernels[] = {
      "fn (p0: Tensor[(2, 18, 4, 5), float32]) { sum(p0, axis=[1]) }",
      "fn (p0: Tensor[(2, 18, 4), float32]) { nn.softmax(p0, axis=1) }",
      "fn (p0: Tensor[(4, 5, 6), float32]) { nn.layer_norm(p0, axis=[0, 2]) }",
      "fn (p0: Tensor[(40,), float32]) { nn.softmax(p0) }",
      "fn (p0: Tensor[(2, 18, 4), float32]) { argmax(p0, axis=1) }",
      "fn (p0: Tensor[(5, 1), float32]) { nn.softmax(p0) }",
      "fn (p0: Tensor[(7, 7, 2), float32]) { nn.softmax(p0, axis=0) }"};
  uint64_t seed = 1;
  for (const char* kernel : kernels) {
    CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default", "generic", target,
                  4, seed++);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hone::schedule
