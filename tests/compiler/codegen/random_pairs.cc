#include "tests/compiler/codegen/random_pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "gtest/gtest.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

// For those that this machine is none of it is built and not run.
const char* const kTargets[] = {"native",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2",
                                "native",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=4",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=2",
                                "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=2"};

uint64_t SeedOf(const Family& family) {
  const char* const given = std::getenv("HONE_RANDOM_SEED");
  uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  for (const char c : family.name) seed = seed * 131 + static_cast<unsigned char>(c);
  return seed;
}

class Checker {
 public:
  Checker(const Family& family, int configs)
      : family_(family), configs_(configs), random_(SeedOf(family)) {}

  Tally Run() {
    while (!IsDone() && errors_ < kMostErrors) CheckWorkload();
    fmt::print(
        "{}: {} workloads, {} configs, {} failed builds, {} of {} equal the reference; {}; {}\n",
        family_.name, tally_.workloads, tally_.configs, tally_.failed_builds, tally_.equal,
        tally_.ran, fmt::join(tally_.templates, " "), fmt::join(tally_.strategies, " "));
    EXPECT_LE(tally_.failed_builds * 100, tally_.configs) << family_.name;
    EXPECT_GT(tally_.ran, 0) << family_.name;
    EXPECT_GE(tally_.equal * 2, tally_.ran) << family_.name;
    if (Wants()) {
      EXPECT_GT(tally_.wanted, 0) << family_.name << " has no config that it wants";
    }
    return tally_;
  }

 private:
  static constexpr int kConfigsAWorkload = 8;
  static constexpr int kMostErrors = 3;
  static constexpr int kSamples = 30;   // for one that is wanted
  static constexpr int kMostTimes = 8;  // the configs asked for, until one is wanted
  static constexpr double kMostFlops = 1.6e7;

  void CheckWorkload() {
    const std::string workload = RandomWorkload(family_, random_, tally_.workloads);
    const std::string target = kTargets[random_.Below(std::size(kTargets))];
    const auto task = TaskUnderTest::Of(workload, target);
    if (!task.ok()) return Complain(workload, std::string(task.status().message()));
    if ((*task)->def().flops > kMostFlops) return;
    ++tally_.workloads;
    tally_.templates.emplace((*task)->schedule().name());
    const auto check = PairCheck::Of((*task)->def());
    if (!check.ok()) return Complain(workload, std::string(check.status().message()));
    for (const auto& signature : (*task)->signatures()) {
      CheckDefaults((*task)->schedule(), (*task)->With(signature), workload + "\n  " + target);
    }
    const bool runs = RunsHere(TestTarget(target));
    LaunchCache cache;
    for (int i = 0; i < kConfigsAWorkload && !IsDone(); ++i) {
      const schedule::Task one =
          (*task)->With((*task)->signatures()[random_.Below((*task)->signatures().size())]);
      const schedule::Config config =
          i == 0 && !Wants() ? schedule::DefaultOfTask(one) : Sample(schedule::SpaceOfTask(one));
      const std::string pair = fmt::format("{}\n  {}\n  {} {}", workload, target,
                                           one.signature.ToString(), config.ToText());
      CheckConfig(one, config, runs ? check->get() : nullptr, cache, pair);
    }
  }

  // What a search starts from is of the space, and reads as the space writes it.
  static void CheckDefaults(const schedule::Template& schedules, const schedule::Task& task,
                            const std::string& what) {
    const schedule::Space space = schedule::SpaceOfTask(task);
    std::vector<schedule::Config> first = schedule::AlternativesOfTask(task);
    first.push_back(schedule::DefaultOfTask(task));
    for (const schedule::Config& config : first) {
      const std::optional<schedule::Config> migrated = space.Migrate(config);
      EXPECT_TRUE(migrated && *migrated == config)
          << what << "\n  " << task.signature.ToString() << " " << config.ToText();
    }
  }

  bool Wants() const { return !family_.strategy.empty(); }

  // A seed's first workloads may all be too small for the strategy that is wanted: a few more are
  // drawn until one has it.
  bool IsDone() const {
    const bool has_what_it_wants = !Wants() || tally_.wanted > 0;
    return tally_.configs >= (has_what_it_wants ? configs_ : kMostTimes * configs_);
  }

  schedule::Config Sample(const schedule::Space& space) {
    schedule::Config config = space.Sample(random_);
    for (int i = 0; i < kSamples && Wants() && !IsWanted(config); ++i) {
      config = space.Sample(random_);
    }
    return config;
  }
  bool IsWanted(const schedule::Config& config) const {
    return config.Has("strategy") && config.String("strategy").starts_with(family_.strategy) &&
           (family_.is_wanted == nullptr || family_.is_wanted(config));
  }

  void CheckConfig(const schedule::Task& task, const schedule::Config& config,
                   const PairCheck* check, LaunchCache& cache, const std::string& pair) {
    ++tally_.configs;
    if (Wants() && IsWanted(config)) ++tally_.wanted;
    if (config.Has("strategy")) tally_.strategies.insert(config.String("strategy"));
    NameInCrashes(pair);
    const absl::StatusOr<std::string> artifact = BuildArtifact(task, config, &cache);
    if (!artifact.ok()) {
      if (tally_.failed_builds++ < kMostErrors) {
        fmt::print("not built: {}\n  {}\n", pair, std::string(artifact.status().message()));
      }
      return;
    }
    if (check == nullptr) return;
    ++tally_.ran;
    const absl::Status status = check->Check(*artifact);
    if (status.ok()) {
      ++tally_.equal;
    } else {
      Complain(pair, std::string(status.message()));
    }
  }

  void Complain(const std::string& what, const std::string& message) {
    ++errors_;
    ADD_FAILURE() << what << "\n  " << message;
  }

  const Family& family_;
  const int configs_;
  Random random_;
  Tally tally_;
  int errors_ = 0;
};

}  // namespace

Tally CheckRandomPairs(const Family& family, int configs) { return Checker(family, configs).Run(); }

}  // namespace hone::codegen
