// What is read across the order in which it is written is turned in tiles: whatever its elements,
// axes of one index and extents are.
#include <algorithm>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

// Row-major.
Task TaskOf(const ops::KernelDefinition& def) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const auto row_major = [](const Layout& layout) { return layout.IsRowMajor(); };
  for (const ir::LayoutSignature& signature :
       TemplateFor(def).Signatures(def, machine::Machine::For(target))) {
    if (std::ranges::all_of(signature.operands, row_major) &&
        std::ranges::all_of(signature.results, row_major)) {
      return {&def, signature, target};
    }
  }
  return {};
}

std::string Transpose(const std::string& shape, const std::string& dtype, const std::string& axes) {
  return fmt::format(
      "fn (p0: Tensor[({}), {}]) {{ transpose(p0, axes=[{}]) }} accumulate=float32 "
      "numerics=default",
      shape, dtype, axes);
}

TEST(TurnedStages, HaveAxesOfOneIndexAnywhere) {
  for (const auto& [shape, axes] :
       {std::pair("70, 2, 90", "2, 1, 0"), std::pair("70, 2, 90, 1", "2, 1, 3, 0"),
        std::pair("70, 2, 90, 1", "2, 1, 0, 3"), std::pair("70, 2, 90, 1, 1", "3, 2, 1, 4, 0"),
        std::pair("70, 1, 2, 90, 1", "3, 2, 0, 1, 4")}) {
    for (const char* dtype : {"uint8", "float16", "float32", "int64", "float64"}) {
      const ops::KernelDefinition def = MustLower(Transpose(shape, dtype, axes));
      const Task task = TaskOf(def);
      const Config config = DefaultOfTask(task);
      EXPECT_EQ(config.String("walk"), "turn") << shape << " to " << axes;
      const auto nest = NestOfConfig(task, config);
      ASSERT_TRUE(nest.ok()) << nest.status();
      // Rows are unrolled around lanes that lie apart in what is read.
      const std::string text = loop::ToText(*nest);
      EXPECT_NE(text.find(".row"), std::string::npos) << text;
    }
  }
}

TEST(TurnedStages, OfLargeTensorsReadSeveralTilesSideBySide) {
  const ops::KernelDefinition large = MustLower(Transpose("1569, 2, 6272", "float32", "2, 1, 0"));
  EXPECT_EQ(DefaultOfTask(TaskOf(large)).Int("strip"), 4);
  const ops::KernelDefinition narrow = MustLower(Transpose("1569, 2, 6272", "float16", "2, 1, 0"));
  EXPECT_EQ(DefaultOfTask(TaskOf(narrow)).Int("strip"), 1);
  const ops::KernelDefinition small = MustLower(Transpose("70, 90", "float32", "1, 0"));
  EXPECT_EQ(DefaultOfTask(TaskOf(small)).Int("strip"), 1);
}

TEST(TurnedStages, AreWhatTheNaiveNestComputes) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  uint64_t seed = 1;
  for (const char* shape : {"37, 2, 150, 1", "64, 1, 128, 1", "33, 3, 17, 1"}) {
    for (const char* dtype : {"uint8", "float32", "int64"}) {
      for (const CpuTarget& target : {wide, narrow}) {
        EXPECT_GE(
            CheckTemplate(Transpose(shape, dtype, "2, 1, 3, 0"), "generic", target, 8, seed++), 6);
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace hone::schedule
