#include "tests/compiler/codegen/grid_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/schedule/open_task.h"
#include "compiler/schedule/template.h"
#include "gtest/gtest.h"
#include "tests/compiler/codegen/grid_workload.h"
#include "tests/compiler/codegen/pair_check.h"

namespace hone::codegen {
namespace {

constexpr char kStrategyKnob[] = "strategy";
constexpr int kConfigsOfWorkload = 4;
constexpr double kMostFlopsOfPair = 6e6;  // that are interpreted in about a second

std::string TextOf(const schedule::KnobValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : fmt::format("{}", std::get<int64_t>(value));
}

uint64_t SeedOr(uint64_t seed) {
  const char* const given = std::getenv("HONE_RANDOM_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : seed;
}

// The space with one strategy alone.
schedule::Space Only(const schedule::Space& space, const std::string& strategy) {
  return schedule::Space([=](const schedule::Config& prefix) {
    return prefix.entries().empty() ? schedule::Knob{kStrategyKnob, {strategy}, std::nullopt}
                                    : space.Next(prefix);
  });
}

}  // namespace

std::string KnobCoverage::RarestStrategy(const schedule::Space& space) const {
  const auto ran = ran_.find({"", kStrategyKnob});
  const auto runs_of = [&](const schedule::KnobValue& strategy) {
    if (ran == ran_.end()) return 0;
    const auto runs = ran->second.find(TextOf(strategy));
    return runs == ran->second.end() ? 0 : runs->second;
  };
  const schedule::Knob strategies = space.Next({}).value();
  return TextOf(*std::ranges::min_element(strategies.options, {}, runs_of));
}

void KnobCoverage::Add(const schedule::Space& space, const schedule::Config& config) {
  schedule::Config prefix;
  while (const std::optional<schedule::Knob> knob = space.Next(prefix)) {
    const Owner owner = {prefix.Has(kStrategyKnob) ? prefix.String(kStrategyKnob) : "", knob->name};
    for (const schedule::KnobValue& option : knob->options) offered_[owner].insert(TextOf(option));
    const schedule::KnobValue* const chosen = config.Find(knob->name);
    ASSERT_NE(chosen, nullptr) << knob->name;
    ++ran_[owner][TextOf(*chosen)];
    prefix.Set(knob->name, *chosen);
  }
}

void KnobCoverage::AddLayouts(size_t number, size_t count) {
  const Owner layouts = {"", "layouts"};
  for (size_t i = 0; i < count; ++i) offered_[layouts].insert(fmt::format("{}", i));
  ++ran_[layouts][fmt::format("{}", number)];
}

void KnobCoverage::ExpectAllStrategies() const {
  if (testing::Test::HasFailure()) return;  // a pair failed, and was the last one
  const Owner strategies = {"", kStrategyKnob};
  ASSERT_TRUE(offered_.contains(strategies));
  for (const std::string& strategy : offered_.at(strategies)) {
    EXPECT_TRUE(ran_.at(strategies).contains(strategy)) << "no config of " << strategy << " ran";
  }
}

void KnobCoverage::ExpectAllKnobs() const {
  if (testing::Test::HasFailure()) return;
  for (const auto& [owner, options] : offered_) {
    if (options.size() < 2) continue;
    EXPECT_GE(ran_.at(owner).size(), 2)
        << "one value of " << owner.second << " ran, of strategy " << owner.first;
  }
}

std::string KnobCoverage::Summary() const {
  std::string text;
  const auto strategies = ran_.find({"", kStrategyKnob});
  if (strategies == ran_.end()) return text;
  for (const auto& [strategy, configs] : strategies->second) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", configs, strategy);
  }
  return text;
}

GridPairs::GridPairs(const std::string& target, uint64_t seed, Check check)
    : target_(*Target::Parse(target)), check_(std::move(check)), random_(SeedOr(seed)) {}

void GridPairs::Run(int pairs) {
  int checked = 0;
  while (checked < pairs && !testing::Test::HasFailure()) checked += RunWorkload(pairs - checked);
  fmt::print("{}: {} pairs: {}\n", target_.ToString(), checked, coverage_.Summary());
}

int GridPairs::RunWorkload(int most_pairs) {
  const GridWorkload workload = RandomGridWorkload(random_, workloads_++);
  SCOPED_TRACE(workload.text);
  const auto under_test = TaskUnderTest::Of(workload.text, "native");
  if (!under_test.ok()) {
    ADD_FAILURE() << under_test.status();
    return 0;
  }
  const ops::KernelDefinition& def = (*under_test)->def();
  if (def.flops > kMostFlopsOfPair) return 0;
  const auto machine = machine::Machine::For(target_);
  const auto signatures = schedule::TemplateFor(def, machine).Signatures(def, machine);
  const size_t layouts = random_.Below(signatures.size());
  const auto& signature = signatures[layouts];
  const auto task = schedule::OpenTask::Open({&def, signature, target_});
  if (!task.ok()) {
    ADD_FAILURE() << task.status();
    return 0;
  }
  const schedule::Space space = task->space();
  const int pairs = std::min(kConfigsOfWorkload, most_pairs);
  for (int i = 0; i < pairs && !testing::Test::HasFailure(); ++i) {
    const schedule::Config config =
        i == 0 ? task->Default() : Only(space, coverage_.RarestStrategy(space)).Sample(random_);
    const std::string pair = fmt::format("{} {}", signature.ToString(), config.ToText());
    SCOPED_TRACE(pair);
    NameInCrashes(workload.text + "\n" + pair);
    const auto lowered = task->Lower(config);
    if (!lowered.ok()) {
      ADD_FAILURE() << lowered.status();
      return i;
    }
    check_(lowered->nest, workload.tolerance);
    coverage_.Add(space, config);
    coverage_.AddLayouts(layouts, signatures.size());
  }
  return pairs;
}

}  // namespace hone::codegen
