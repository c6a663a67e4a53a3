#include "tests/compiler/codegen/opencl/workload_check.h"

#include "compiler/machine/machine.h"
#include "compiler/schedule/template.h"
#include "gtest/gtest.h"
#include "tests/compiler/codegen/opencl/same_results.h"
#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

constexpr double kMostFlops = 4e5;  // that are interpreted in no time
constexpr double kTolerance = 1e-4;
constexpr int kMostDraws = 32;  // some families have few small workloads

void CheckOnGrid(const ops::KernelDefinition& def, int configs, Random& random) {
  const Target target = AnyOpenClTarget();
  const auto machine = machine::Machine::For(target);
  const auto signatures = schedule::TemplateFor(def, machine).Signatures(def, machine);
  const schedule::Task task{&def, signatures.at(0), target};
  for (int i = 0; i < configs; ++i) {
    const schedule::Config config =
        i == 0 ? schedule::DefaultOfTask(task) : schedule::SpaceOfTask(task).Sample(random);
    SCOPED_TRACE(config.ToText());
    const auto nest = schedule::NestOfConfig(task, config);
    ASSERT_TRUE(nest.ok()) << nest.status();
    ExpectOpenClSameAsInterpreter(*nest, kTolerance);
  }
}

}  // namespace

void CheckOpenClWorkload(const std::string& workload, int configs, Random& random) {
  SCOPED_TRACE(workload);
  const auto task = TaskUnderTest::Of(workload, "native");
  ASSERT_TRUE(task.ok()) << task.status();
  ExpectOpenClSameAsInterpreter((*task)->def().naive, kTolerance);
  CheckOnGrid((*task)->def(), configs, random);
  for (int i = 0; i < configs && !testing::Test::HasFailure(); ++i) {
    const auto& signatures = (*task)->signatures();
    const schedule::Task one = (*task)->With(signatures[random.Below(signatures.size())]);
    const schedule::Config config =
        i == 0 ? schedule::DefaultOfTask(one) : schedule::SpaceOfTask(one).Sample(random);
    SCOPED_TRACE(one.signature.ToString() + " " + config.ToText());
    const auto nest = schedule::NestOfConfig(one, config);
    ASSERT_TRUE(nest.ok()) << nest.status();
    const bool is_transformed =
        config.Has("strategy") && config.String("strategy").starts_with("winograd");
    ExpectOpenClSameAsInterpreter(*nest, is_transformed ? 1e-3 : kTolerance);
  }
}

void CheckOpenClFamily(const Family& family, int workloads, int configs) {
  Random random(5);
  int checked = 0;
  for (int i = 0; i < kMostDraws && checked < workloads; ++i) {
    const std::string workload = RandomWorkload(family, random, i);
    const auto task = TaskUnderTest::Of(workload, "native");
    ASSERT_TRUE(task.ok()) << task.status() << workload;
    if ((*task)->def().flops > kMostFlops) continue;
    ++checked;
    CheckOpenClWorkload(workload, configs, random);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(checked, 0);
}

}  // namespace hone::codegen
