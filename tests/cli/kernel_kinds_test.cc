#include "tests/cli/kernel_kinds.h"

#include <fmt/format.h>

#include <set>

#include "compiler/driver/compile.h"
#include "compiler/ir/cpu_target.h"
#include "compiler/ir/parser.h"
#include "compiler/schedule/template.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::cli {
namespace {

// "conv direct": a template and a strategy that the space of one of the kind's tasks offers; the
// template alone where it has no strategies. On a machine with AVX-512, wherever the test runs.
std::set<std::string> StrategiesOf(const KernelKind& kind) {
  const auto target =
      CpuTarget::Parse("llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids -threads=1");
  const auto model = ir::ParseModule(ModelOf(kind));
  const auto tasks = driver::TasksOf(*model, *target);
  if (!tasks.ok()) {
    ADD_FAILURE() << kind.name << ": " << tasks.status();
    return {};
  }
  std::set<std::string> strategies;
  for (const driver::TuningTask& task : tasks->tasks) {
    const schedule::Template& schedules = schedule::TemplateFor(*task.def);
    const auto first = schedule::SpaceOfTask({task.def.get(), task.signature, *target}).Next({});
    if (!first || first->name != "strategy") {
      strategies.emplace(schedules.name());
      continue;
    }
    for (const schedule::KnobValue& option : first->options) {
      strategies.insert(fmt::format("{} {}", schedules.name(), std::get<std::string>(option)));
    }
  }
  return strategies;
}

TEST(KernelKinds, HaveEveryTemplateAndStrategy) {
  std::set<std::string> strategies;
  for (const KernelKind& kind : KernelKinds()) strategies.merge(StrategiesOf(kind));
  EXPECT_THAT(
      strategies,
      testing::ElementsAre(
          "attention apart", "attention blocks", "conv direct", "conv pixels", "conv rows",
          "conv stages", "conv tiles", "conv winograd2", "conv winograd3", "conv winograd4",
          "conv winograd5", "conv winograd6", "dense direct", "dense dots", "dense tiles",
          "depthwise_conv2d direct", "depthwise_conv2d rows", "depthwise_conv2d stages",
          "depthwise_conv2d winograd2", "generic", "pool", "pool direct", "pool rows",
          "pool stages", "recurrent", "rows parts", "rows rows", "rows stages", "sparse_dense"));
}

TEST(KernelKinds, AreManyAndOfDifferentNames) {
  std::set<std::string> names;
  for (const KernelKind& kind : KernelKinds()) {
    names.emplace(kind.name);
    EXPECT_TRUE(ir::ParseModule(ModelOf(kind)).ok()) << kind.name;
  }
  EXPECT_EQ(names.size(), KernelKinds().size());
  EXPECT_GE(names.size(), 80);
}

}  // namespace
}  // namespace hone::cli
