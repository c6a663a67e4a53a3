#include "tests/compiler/schedule/grid_task.h"

#include "compiler/lower/lower.h"
#include "compiler/machine/machine.h"
#include "compiler/schedule/templates.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {

GridTask::GridTask(const std::string& kernel, const std::string& target, size_t signature)
    : def_(MustLower(kernel + kDefaultEnd)),
      target_(*Target::Parse(target)),
      signature_(signature) {}

Task GridTask::task() const {
  const auto machine = machine::Machine::For(target_);
  return {&def_, TemplateFor(def_, machine).Signatures(def_, machine).at(signature_), target_};
}

int64_t GridTask::ConfigCount() const { return SpaceOfTask(task()).Count(); }

std::string GridTask::Default() const { return DefaultOfTask(task()).ToText(); }

bool GridTask::Has(const std::string& strategy) const {
  const std::optional<Knob> knob = SpaceOfTask(task()).Next(Config());
  return knob && std::ranges::find(knob->options, KnobValue(strategy)) != knob->options.end();
}

Space GridTask::SpaceOf(const std::string& strategy) const {
  return Space([strategy, space = SpaceOfTask(task())](const Config& config) {
    return config.entries().empty() ? Knob{"strategy", {strategy}, std::nullopt}
                                    : space.Next(config);
  });
}

void ExpectGoldenOf(const GridTask& one, const std::string& golden, const std::string& config) {
  const auto parsed = Config::Parse(config);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto nest = NestOfConfig(one.task(), *parsed);
  ASSERT_TRUE(nest.ok()) << nest.status();
  ExpectGolden(golden, one.naive(), *nest);
}

bool CheckStrategyOnGrid(const std::string& kernel, const std::string& strategy, int configs,
                         uint64_t seed, double tolerance, size_t signature) {
  const GridTask one(kernel, kSmallGpu, signature);
  EXPECT_TRUE(one.Has(strategy)) << kernel;
  if (!one.Has(strategy)) return false;
  const Space space = one.SpaceOf(strategy);
  Random random(seed);
  for (int i = 0; i < configs; ++i) {
    const Config config = space.Sample(random);
    const auto nest = NestOfConfig(one.task(), config);
    EXPECT_TRUE(nest.ok()) << nest.status() << kernel << config.ToText();
    if (!nest.ok()) return false;
    ExpectSameResults(one.naive(), *nest, seed + static_cast<uint64_t>(i), kernel + config.ToText(),
                      tolerance);
    const auto launches = lower::LowerLaunches(*nest, one.task().target);
    EXPECT_TRUE(launches.ok()) << launches.status() << kernel << config.ToText();
    if (testing::Test::HasFailure()) return false;
  }
  return true;
}

}  // namespace hone::schedule
