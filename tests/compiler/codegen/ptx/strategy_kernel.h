// Kernels of one strategy of GPUs, from the operator to a nest.
#ifndef HONE_TESTS_COMPILER_CODEGEN_PTX_STRATEGY_KERNEL_H_
#define HONE_TESTS_COMPILER_CODEGEN_PTX_STRATEGY_KERNEL_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/schedule/template.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {

// A workload scheduled for a GPU, by configs of one strategy alone.
class StrategyKernel {
 public:
  // `arch`: as in targets of CUDA, "sm_80".
  StrategyKernel(const std::string& function, const std::string& arch, std::string strategy,
                 bool channels_last = false)
      : task_(
            TaskUnderTest::Of(function + " accumulate=float32 numerics=default", "native").value()),
        target_(*Target::Parse("cuda -multiprocessors=4 -arch=" + arch)),
        strategy_(std::move(strategy)),
        channels_last_(channels_last) {}

  schedule::Task task() const { return {&task_->def(), Signatures().at(channels_last_), target_}; }
  bool CanBeChannelsLast() const { return Signatures().size() > 1; }
  std::vector<schedule::Config> Configs(int samples) const {
    const schedule::Space all = schedule::SpaceOfTask(task());
    const schedule::Space space([&](const schedule::Config& config) {
      return config.entries().empty() ? schedule::Knob{"strategy", {strategy_}, std::nullopt}
                                      : all.Next(config);
    });
    Random random(1);
    std::vector<schedule::Config> configs;
    for (int i = 0; i < samples; ++i) configs.push_back(space.Sample(random));
    return configs;
  }
  loop::Nest NestOf(const schedule::Config& config) const {
    const auto nest = schedule::NestOfConfig(task(), config);
    EXPECT_TRUE(nest.ok()) << nest.status() << config.ToText();
    return nest.ok() ? *nest : loop::Nest();
  }
  std::string target() const { return target_.ToString(); }

 private:
  std::vector<ir::LayoutSignature> Signatures() const {
    const auto machine = machine::Machine::For(target_);
    const auto& def = task_->def();
    return schedule::TemplateFor(def, machine).Signatures(def, machine);
  }

  const std::unique_ptr<const TaskUnderTest> task_;
  const Target target_;
  const std::string strategy_;
  const bool channels_last_;
};

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_PTX_STRATEGY_KERNEL_H_
