#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/templates.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

const char* const kKernels[] = {
    "fn (p0: Tensor[(1, 20, 5, 7), float32], p1: Tensor[(1, 20, 5, 7), float32]) { %0 = add(p0, "
    "p1); nn.relu(%0) }",
    "fn (p0: Tensor[(3, 17), float32], const p1: Tensor[(17,), float32]) { %0 = multiply(p0, p1); "
    "%1 = nn.relu(%0); add(%1, p0) }",
    "fn (p0: Tensor[(37,), float32]) { nn.relu(p0) }",
    "fn (p0: Tensor[(), float32]) { nn.relu(p0) }",
    "fn (p0: Tensor[(1,), float32]) { nn.relu(p0) }",
    "fn (p0: Tensor[(2, 33, 3, 3), float32]) { nn.batch_flatten(p0) }",
    "fn (p0: Tensor[(4, 35), float32]) { nn.softmax(p0, axis=0) }",
    "fn (p0: Tensor[(2, 16, 4, 4), float32]) { mean(p0, axis=[1, 2]) }",
    "fn (p0: Tensor[(2, 18, 4, 5), float32]) { sum(p0, axis=[1]) }",
    "fn (p0: Tensor[(2, 16, 4, 5), float32]) { max(p0, axis=[2], keepdims=true) }",
    "fn (p0: Tensor[(2, 20, 1, 5), float32]) { sum(p0, axis=[0], keepdims=true) }",
    "fn (p0: Tensor[(2, 33, 1, 1), float32]) { nn.relu(p0) }",
    "fn (p0: Tensor[(3, 6, 5), float32]) { transpose(p0, axes=[2, 0, 1]) }",
    "fn (p0: Tensor[(2, 35, 19), uint8]) { transpose(p0, axes=[0, 2, 1]) }",
    "fn (p0: Tensor[(17, 5, 33), bool]) { transpose(p0, axes=[2, 0, 1]) }",
    "fn (p0: Tensor[(2, 3, 5, 37), uint8]) { transpose(p0, axes=[0, 2, 3, 1]) }",
    "fn (p0: Tensor[(3, 5, 32), bfloat16]) { transpose(p0, axes=[1, 2, 0]) }",
    "fn (p0: Tensor[(2, 9, 33), float32]) { %0 = transpose(p0, axes=[1, 2, 0]); nn.relu(%0) }",
    "fn (p0: Tensor[(40, 7), bfloat16]) { transpose(p0, axes=[1, 0]) }",
    "fn (p0: Tensor[(1, 16, 3, 3), float32], p1: Tensor[(1, 17, 3, 3), float32]) { %0 = (p0, p1); "
    "concatenate(%0, axis=1) }",
    "fn (p0: Tensor[(2, 3, 7), float64], p1: Tensor[(2, 5, 7), float64]) { nn.batch_matmul(p0, "
    "p1) }",
    "fn (p0: Tensor[(1, 17, 2, 3, 2), float32], p1: Tensor[(1, 17, 2, 3, 2), float32]) { %0 = "
    "add(p0, p1); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 8, 5, 5), int32], const p1: Tensor[(8, 8, 3, 3), int32]) { nn.conv2d(p0, "
    "p1) "
    "}",
    "fn (p0: Tensor[(6, 7), int32], p1: Tensor[(7,), int32]) { add(p0, p1) }",
    "fn (p0: Tensor[(9, 20), float32], p1: Tensor[(5,), int64]) { take(p0, p1, axis=0) }",
    "fn (p0: Tensor[(2, 40), float32]) { %0 = sum(p0, axis=[0], keepdims=true); multiply(p0, %0) }",
    "fn (p0: Tensor[(2, 41, 3), float32]) { sigmoid(p0) }",
    "fn (p0: Tensor[(5, 13, 2), float32], p1: Tensor[(5, 1, 1), float32]) { add(p0, p1) }",
    "fn (p0: Tensor[(7, 3), float32]) { %0 = nn.relu(p0); %1 = exp(p0); (%0, %1) }",
    "fn (p0: Tensor[(2, 6), float32]) { %0 = nn.relu(p0); %1 = negative(p0); (%0, %1) }",
    "fn (p0: Tensor[(3, 5, 37), float32]) { cumsum(p0, axis=1) }",
    "fn (p0: Tensor[(3, 5, 37), float32]) { cumsum(p0, axis=0, exclusive=true, reverse=true) }",
    "fn (p0: Tensor[(4, 20), int32]) { cumsum(p0, axis=1, reverse=true) }",
};

// Kernels that look like those of other templates, but are not of their form.
TEST(Generic, TakesWhatOtherTemplatesLeave) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const std::pair<const char*, const char*> kernels[] = {
      {"conv",
       "fn (p0: Tensor[(1, 20, 5, 5), float32], const p1: Tensor[(18, 20, 3, 3), float32]) { %0 = "
       "nn.relu(p0); nn.conv2d(%0, p1, padding=[1, 1, 1, 1]) }"},
      {"conv",
       "fn (p0: Tensor[(1, 20, 5, 5), float32], p1: Tensor[(18, 20, 1, 1), float32]) { %0 = "
       "nn.relu(p0); %1 = nn.conv2d(%0, p1); %2 = add(%1, %1); sigmoid(%2) }"},
      {"depthwise_conv2d",
       "fn (p0: Tensor[(1, 20, 5, 5), float32], const p1: Tensor[(20, 1, 3, 3), float32]) { %0 = "
       "nn.relu(p0); nn.conv2d(%0, p1, groups=20, padding=[1, 1, 1, 1]) }"},
      {"pool",
       "fn (p0: Tensor[(1, 20, 5, 5), float32]) { %0 = nn.relu(p0); nn.max_pool2d(%0, "
       "pool_size=[2, 2], padding=[1, 1, 1, 1]) }"},
      {"dense",
       "fn (p0: Tensor[(3, 20), float32], const p1: Tensor[(18, 20), float32]) { %0 = nn.relu(p0); "
       "nn.dense(%0, p1) }"},
      {"generic",
       "fn (p0: Tensor[(1, 20, 5, 5), float32], const p1: Tensor[(18, 20, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.batch_flatten(%0) }"},
      {"generic",
       "fn (p0: Tensor[(1, 16, 5, 5), float32], const p1: Tensor[(18, 16, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1); %1 = nn.relu(%0); (%0, %1) }"},
  };
  uint64_t seed = 1;
  for (const auto& [name, kernel] : kernels) {
    CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default", name, target, 6,
                  seed++);
    if (HasFailure()) return;
  }
}

TEST(Generic, EveryConfigComputesWhatTheNaiveNestDoes) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  int checked = 0;
  uint64_t seed = 1;
  for (const char* kernel : kKernels) {
    for (const CpuTarget& target : {wide, narrow}) {
      checked += CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default",
                               "generic", target, 5, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 60);
}

// By its default in the signature of that place.
void ExpectVectorsInEveryLaunch(const std::string& kernel, size_t signature) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const ops::KernelDefinition def = MustLower(kernel + " accumulate=float32 numerics=default");
  const Template& schedule = TemplateFor(def);
  const std::vector<ir::LayoutSignature> signatures =
      schedule.Signatures(def, machine::Machine::For(target));
  ASSERT_LT(signature, signatures.size());
  const Task task{&def, signatures[signature], target};
  const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, DefaultOfTask(task));
  ASSERT_TRUE(nest.ok()) << nest.status();
  for (const loop::Launch& launch : nest->launches) {
    if (launch.phase != loop::Phase::kRun) continue;
    bool has_vectors = false;
    loop::Walk(launch.body, [&](const loop::Stmt& s) {
      has_vectors = has_vectors ||
                    (s->kind == loop::StmtKind::kFor && s->loop_kind == loop::LoopKind::kVectorize);
      return true;
    });
    EXPECT_TRUE(has_vectors) << kernel << " " << launch.name;
  }
}

// Results in blocks of channels, and whatever the stages before left of their loops.
TEST(Generic, ReductionsOfBlocksAreVectors) {
  const std::string resample =
      "fn (p0: Tensor[(1, 32, 7, 9), float32], const p1: Tensor[(11, 2), int64], const p2: "
      "Tensor[(11, 2), float32]) { resample(p0, p1, p2, axis=";
  ExpectVectorsInEveryLaunch(resample + "2) }", 0);
  ExpectVectorsInEveryLaunch(resample + "3) }", 0);
  ExpectVectorsInEveryLaunch(resample + "2) }", 1);
  for (const char* axes : {"[2, 3]", "[2, 3], keepdims=true"}) {
    ExpectVectorsInEveryLaunch(
        fmt::format("fn (p0: Tensor[(1, 32, 7, 9), float32]) {{ mean(p0, axis={}) }}", axes), 0);
  }
  ExpectVectorsInEveryLaunch(
      "fn (p0: Tensor[(1, 32, 7, 9), float32]) { nn.layer_norm(p0, axis=[2, 3]) }", 0);
}

// Axes of one index behind the last are no reason to have no lanes.
TEST(Generic, LanesAreAlongTheLastAxisOfSeveralIndices) {
  ExpectVectorsInEveryLaunch("fn (p0: Tensor[(1, 6, 40, 1), float32]) { nn.relu(p0) }", 0);
}

// A moved operand is read where it lies: lanes are columns of the product.
TEST(Generic, ProductsWithATransposedOperandAreVectors) {
  ExpectVectorsInEveryLaunch(
      "fn (p0: Tensor[(1, 8, 30), float64], p1: Tensor[(30, 40), float64]) { %0 = transpose(p1, "
      "axes=[1, 0]); %1 = expand_dims(%0, axis=0); nn.batch_matmul(p0, %1) }",
      0);
}

// Running sums go along rows of other axes, which keep no order.
TEST(Generic, RunningSumsAlongOuterAxesAreVectors) {
  ExpectVectorsInEveryLaunch("fn (p0: Tensor[(4, 6, 40), float32]) { cumsum(p0, axis=1) }", 0);
  ExpectVectorsInEveryLaunch("fn (p0: Tensor[(6, 40), float32]) { cumsum(p0, axis=0) }", 0);
}

// Images with their two or three channels innermost: lanes are columns.
TEST(Generic, FewElementsSideBySideAreInterleaved) {
  ExpectVectorsInEveryLaunch("fn (p0: Tensor[(3, 8, 40), uint8]) { transpose(p0, axes=[1, 2, 0]) }",
                             0);
}

TEST(Generic, RowsThatAreScatteredAreVectors) {
  ExpectVectorsInEveryLaunch(
      "fn (p0: Tensor[(6, 40), float32], p1: Tensor[(4, 1), int64], p2: Tensor[(4, 40), float32]) "
      "{ scatter_nd(p0, p1, p2) }",
      0);
}

// Detection heads, coordinates and complex numbers: elements one after the other, as far as nothing
// is read along an axis of its own.
TEST(Generic, ShortLastAxesAreJoined) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const auto lanes = [&](const std::string& kernel) {
    const ops::KernelDefinition def = MustLower(kernel + " accumulate=float32 numerics=default");
    const Task task{.def = &def,
                    .signature = RowMajorSignature(def),
                    .target = target,
                    .machine = machine::Machine::For(target)};
    return GenericTemplate().Open(task)->Ranked()[0].config.Int("lanes");
  };
  for (const char* shape : {"(1, 8400, 4)", "(3, 8400, 3)", "(64, 2)"}) {
    EXPECT_EQ(lanes(fmt::format("fn (p0: Tensor[{}, float32]) {{ sigmoid(p0) }}", shape)), 16)
        << shape;
  }
  EXPECT_EQ(lanes("fn (p0: Tensor[(5, 40, 4), float32], p1: Tensor[(5, 1, 1), float32]) { add(p0, "
                  "p1) }"),
            16);
  EXPECT_EQ(lanes("fn (p0: Tensor[(40, 4), float32], p1: Tensor[(4,), float32]) { add(p0, p1) }"),
            4);
}

TEST(Generic, ReductionsLeaveNoPadLanes) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4");
  const ops::KernelDefinition def = MustLower(
      "fn (p0: Tensor[(1, 21, 7, 9), float32], const p1: Tensor[(11, 2), int64], const p2: "
      "Tensor[(11, 2), float32]) { resample(p0, p1, p2, axis=2) } accumulate=float32 "
      "numerics=default");
  for (const ir::LayoutSignature& signature :
       TemplateFor(def).Signatures(def, machine::Machine::For(target))) {
    EXPECT_TRUE(signature.results[0].IsRowMajor()) << signature.ToString();
  }
}

}  // namespace
}  // namespace hone::schedule
