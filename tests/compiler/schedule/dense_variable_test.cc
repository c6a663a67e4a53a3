// Products whose right operand is no constant: read where it lies, or packed at every run.
#include <algorithm>
#include <set>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/dense_text.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

constexpr const char* kWideWithThreads =
    "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,1048576,33554432 -threads=";
constexpr const char* kNarrow = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=2";

// Each operand as the product takes it, or with its last axes swapped.
std::string StackText(int64_t b, int64_t m, int64_t n, int64_t k, bool turned_left,
                      bool turned_right) {
  const auto shape = [&](bool turned, int64_t rows) {
    return turned ? fmt::format("({}, {}, {})", b, k, rows)
                  : fmt::format("({}, {}, {})", b, rows, k);
  };
  std::string body;
  std::string left = "p0", right = "p1";
  if (turned_left) {
    body += "%0 = transpose(p0, axes=[0, 2, 1]); ";
    left = "%0";
  }
  if (turned_right) {
    right = turned_left ? "%1" : "%0";
    body += right + " = transpose(p1, axes=[0, 2, 1]); ";
  }
  return fmt::format(
             "fn (p0: Tensor[{}, float32], p1: Tensor[{}, float32]) {{ {}nn.batch_matmul({}, {}) "
             "}}",
             shape(turned_left, m), shape(turned_right, n), body, left, right) +
         kDefaultEnd;
}

struct Made {
  ops::KernelDefinition def;
  CpuTarget target;
  const Template* schedule = nullptr;

  Task task() const {
    return {&def, schedule->Signatures(def, machine::Machine::For(target))[0], target};
  }
  Config Default() const { return DefaultOfTask(task()); }
};

Made Make(const std::string& text, const std::string& target) {
  Made made{MustLower(text), TestTarget(target)};
  made.schedule = &TemplateFor(made.def);
  EXPECT_EQ(made.schedule->name(), "dense") << text;
  return made;
}

// Configs with this value of a knob, each against the naive nest.
int CheckConfigsWith(const std::string& text, const std::string& target, const std::string& knob,
                     const std::string& value, int most, uint64_t seed) {
  const Made made = Make(text, target);
  const Space space = SpaceOfTask(made.task());
  Random random(seed);
  int checked = 0;
  for (int i = 0; i < 40 && checked < most; ++i) {
    const Config config = space.Sample(random);
    if (!config.Has(knob) || config.String(knob) != value) continue;
    const auto nest = NestOfConfig(made.task(), config);
    EXPECT_TRUE(nest.ok()) << text << config.ToText() << nest.status();
    if (!nest.ok()) break;
    ExpectSameResults(made.def.naive, *nest, seed, text + "\n" + config.ToText() + "\n");
    ++checked;
    if (testing::Test::HasFailure()) break;
  }
  return checked;
}

const int64_t kRows[] = {1, 2, 3, 4, 7, 16};

TEST(DenseDots, ComputeWhatTheNaiveNestDoes) {
  const int64_t units[] = {1, 2, 15, 16, 17, 31, 13};
  const int64_t terms[] = {17, 16, 37, 4, 33, 16, 71};
  int checked = 0;
  uint64_t seed = 1;
  for (const int64_t m : kRows) {
    for (size_t i = 0; i < std::size(units); ++i, ++seed) {
      const std::string text = DenseText(m, units[i], terms[i], seed % 2 == 0, false);
      const std::string target = seed % 3 == 0 ? kNarrow : std::string(kWideWithThreads) + "2";
      checked += CheckConfigsWith(text, target, "strategy", "dots", 6, seed);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 80);
}

TEST(DenseDots, OfStacksReadEitherOperandAsItLies) {
  int checked = 0;
  uint64_t seed = 1;
  for (const int64_t m : kRows) {
    for (const bool turned_left : {false, true}) {
      checked +=
          CheckConfigsWith(StackText(2, m, 5 + m, 19, turned_left, false),
                           std::string(kWideWithThreads) + "2", "strategy", "dots", 6, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 30);
  // The terms are not neighbours in memory: nothing to read in vectors of them.
  const Made turned =
      Make(StackText(2, 3, 5, 19, false, true), std::string(kWideWithThreads) + "1");
  const auto strategies = SpaceOfTask(turned.task()).Next(Config())->options;
  EXPECT_EQ(strategies.size(), 1u);
}

TEST(DenseDots, AfterFunctionsOfTheData) {
  const std::string text =
      "fn (p0: Tensor[(3, 19), float32], p1: Tensor[(9, 19), float32]) { %0 = nn.relu(p0); %1 = "
      "nn.dense(%0, p1); %2 = tanh(%1); multiply(%2, %1) }";
  EXPECT_GE(CheckConfigsWith(text + kDefaultEnd, std::string(kWideWithThreads) + "1", "strategy",
                             "dots", 6, 1),
            3);
}

// The last vector of units is masked.
TEST(DenseInPlace, OfUnitsThatDoNotFillVectors) {
  int checked = 0;
  uint64_t seed = 1;
  for (const int64_t m : kRows) {
    for (const int64_t n : {2, 15, 17, 31, 37, 131}) {
      const std::string target = seed % 3 == 0 ? kNarrow : std::string(kWideWithThreads) + "2";
      checked += CheckConfigsWith(StackText(1 + n % 2, m, n, 1 + m % 3 * 5, m % 2 == 0, true),
                                  target, "right", "in_place", 2, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 60);
}

// No launch beside the product's, and nothing that it writes beside the result.
TEST(DenseDefault, OfFewRowsCopiesNothing) {
  for (const int64_t m : {1, 2, 4, 8}) {
    for (const std::string& text :
         {DenseText(m, 4096, 4096, true, false), DenseText(m, 1000, 513, false, false),
          StackText(1, m, 1024, 128, false, false), StackText(1, m, 1024, 128, false, true),
          StackText(1, m, 1000, 128, false, true)}) {
      const Made made = Make(text, std::string(kWideWithThreads) + "2");
      const Config config = made.Default();
      const auto nest = NestOfConfig(made.task(), config);
      ASSERT_TRUE(nest.ok()) << nest.status();
      EXPECT_EQ(nest->launches.size(), 1u) << text << config.ToText();
      for (const loop::Buffer& buffer : nest->buffers) {
        EXPECT_NE(buffer->role, loop::Role::kWorkspace) << text << config.ToText();
      }
    }
  }
}

// One row is at the memory's rate: its units are one stream, as they lie. Several rows read a
// vector once for all of them.
TEST(DenseDefault, OfOneRowReadsOneStream) {
  const std::string target = std::string(kWideWithThreads) + "1";
  for (const auto& [units, terms] : {std::pair(4096, 4096), {1000, 512}, {1024, 128}}) {
    const Config one = Make(DenseText(1, units, terms, false, false), target).Default();
    EXPECT_EQ(one.String("strategy"), "dots");
    EXPECT_EQ(one.Int("units"), 1) << one.ToText();
    const Config sixteen = Make(DenseText(16, units, terms, false, false), target).Default();
    EXPECT_EQ(sixteen.String("strategy"), "dots");
    EXPECT_GE(sixteen.Int("rows") * sixteen.Int("units"), 12) << sixteen.ToText();
  }
}

// With tanh, or the erf of gelu, behind one row's product.
std::string FunctionText(int64_t units, int64_t terms, bool gelu) {
  const std::string function =
      gelu ? "%1 = multiply(%0, 0.70710678f32); %2 = erf(%1); %3 = add(%2, 1.0f32); "
             "%4 = multiply(%0, %3); multiply(%4, 0.5f32)"
           : "tanh(%0)";
  return fmt::format(
             "fn (p0: Tensor[(1, {1}), float32], p1: Tensor[({0}, {1}), float32]) {{ %0 = "
             "nn.dense(p0, p1); {2} }}",
             units, terms, function) +
         kDefaultEnd;
}

// Functions of single results take as long as of vectors of them: where sums are short, several
// units are summed at once for their sake. Long sums hide them.
TEST(DenseDefault, FunctionsBehindShortSumsAreOfSeveralUnits) {
  const std::string target = std::string(kWideWithThreads) + "1";
  for (const bool gelu : {false, true}) {
    for (const auto& [units, terms] :
         {std::pair(1024, 128), {2048, 128}, {4096, 128}, {2048, 256}}) {
      EXPECT_EQ(Make(DenseText(1, units, terms, false, false), target).Default().Int("units"), 1);
      const std::string text = FunctionText(units, terms, gelu);
      const Config config = Make(text, target).Default();
      EXPECT_EQ(config.String("strategy"), "dots") << text << config.ToText();
      EXPECT_GE(config.Int("units"), 4) << text << config.ToText();
    }
    const Config config = Make(FunctionText(4096, 4096, gelu), target).Default();
    EXPECT_EQ(config.String("strategy"), "dots") << config.ToText();
    EXPECT_EQ(config.Int("units"), 1) << config.ToText();
  }
}

// Constants are packed once, and many rows pay for packing.
TEST(DenseDefault, PacksWhatIsReadOften) {
  const std::string target = std::string(kWideWithThreads) + "2";
  for (const std::string& text :
       {DenseText(1, 4096, 4096, true, true), DenseText(64, 1024, 1024, true, false),
        StackText(12, 128, 128, 64, false, false)}) {
    const Config config = Make(text, target).Default();
    EXPECT_EQ(config.String("strategy"), "direct") << text;
    EXPECT_EQ(config.String("right"), "packed") << text;
  }
  const Made constant = Make(DenseText(1, 64, 64, false, true), target);
  EXPECT_EQ(SpaceOfTask(constant.task()).Next(Config())->options.size(), 1u);
}

TEST(DenseDefault, AlternativesAreTheOtherStrategies) {
  const Made made = Make(DenseText(4, 512, 512, false, false), std::string(kWideWithThreads) + "1");
  std::set<std::string> strategies = {made.Default().String("strategy")};
  for (const Config& config : AlternativesOfTask(made.task())) {
    EXPECT_TRUE(SpaceOfTask(made.task()).Contains(config)) << config.ToText();
    strategies.insert(config.String("strategy"));
  }
  EXPECT_EQ(strategies, (std::set<std::string>{"direct", "dots"}));
}

}  // namespace
}  // namespace hone::schedule
