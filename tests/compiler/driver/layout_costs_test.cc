// Layouts follow what was measured, and tuning them comes to an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_replace.h"
#include "compiler/frontend/zoo/zoo.h"
#include "compiler/ir/parser.h"
#include "support/random.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::driver {
namespace {

using Key = std::pair<std::string, std::string>;  // workload digest, signature
// 0: not measured.
using Times = std::function<double(const schedule::Task& task)>;

class MeasuredConfigs : public ConfigSource {
 public:
  explicit MeasuredConfigs(Times times, std::string tier = "tuned")
      : times_(std::move(times)), tier_(std::move(tier)) {}
  absl::StatusOr<std::optional<ConfigChoice>> Find(const schedule::Task& task) override {
    const double ns = times_(task);
    if (ns == 0) return std::nullopt;
    return ConfigChoice{
        .tier = tier_, .config = schedule::DefaultOfTask(task), .nest_digest = "", .best_ns = ns};
  }

 private:
  const Times times_;
  const std::string tier_;
};

ConfigChain Chain(Times times, const std::string& tier = "tuned") {
  ConfigChain chain;
  chain.Add(std::make_unique<MeasuredConfigs>(std::move(times), tier));
  return chain;
}

// Two convolutions that seem best in blocks.
ir::Module TwoConvolutions() {
  return ir::ParseModule(R"(
def @main(%x: Tensor[(1, 64, 28, 28), float32], %w0: Tensor[(64, 64, 3, 3), float32],
          %w1: Tensor[(64, 64, 3, 3), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w0, padding=[1, 1, 1, 1]));
  nn.relu(nn.conv2d(%0, %w1, padding=[1, 1, 1, 1]))
})")
      .value();
}

CpuTarget Avx512() {
  return CpuTarget::Parse("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4").value();
}

std::multiset<std::string> ConvolutionsOf(const ModelTasks& model) {
  std::multiset<std::string> signatures;
  for (const TuningTask& task : model.tasks) {
    if (task.name.find("conv2d") == std::string::npos) continue;
    for (double calls = 0; calls < task.weight; ++calls) {
      signatures.insert(task.signature.ToString());
    }
  }
  return signatures;
}

std::multiset<std::string> Chosen(Times times, passes::LayoutAim aim,
                                  const std::string& tier = "tuned") {
  ConfigChain chain = Chain(std::move(times), tier);
  const auto model = TasksOf(TwoConvolutions(), Avx512(), &chain, aim);
  EXPECT_TRUE(model.ok()) << model.status();
  return ConvolutionsOf(*model);
}

constexpr char kBlocked[] = "NCHW16c,NCHW->NCHW16c";
constexpr char kRowMajor[] = "NCHW,NCHW->NCHW";

// Convolutions of this signature take 1 us, others 1 ms, copies 1 us.
Times FastestIs(const std::string& signature) {
  return [=](const schedule::Task& task) {
    const bool is_conv = task.def->workload.text.find("nn.conv2d") != std::string::npos;
    return is_conv && task.signature.ToString() != signature ? 1e6 : 1e3;
  };
}

// What lies between the convolutions is in blocks, whatever is at the ends.
::testing::Matcher<const std::multiset<std::string>&> IsBlockedInside() {
  const std::vector<::testing::Matcher<const std::string&>> ends = {
      ::testing::EndsWith("->NCHW16c"), ::testing::StartsWith("NCHW16c,")};
  return ::testing::IsSupersetOf(ends);
}

TEST(LayoutCosts, WithoutMeasurementsConvolutionsAreBlocked) {
  EXPECT_THAT(Chosen([](const schedule::Task&) { return 0; }, passes::LayoutAim::kSettled),
              IsBlockedInside());
}

// Convolutions of as many channels as a ResNet's, on a GPU with tensor cores.
TEST(LayoutCosts, ChannelsOf16BitImagesComeLastOnGpus) {
  const auto signatures_of = [](const std::string& dtype) {
    const std::string text = absl::StrReplaceAll(R"(
def @main(%x: Tensor[(8, 256, 28, 28), T], %w0: Tensor[(256, 256, 3, 3), T],
          %w1: Tensor[(256, 256, 3, 3), T]) {
  %0 = nn.relu(nn.conv2d(%x, %w0, padding=[1, 1, 1, 1]));
  nn.relu(nn.conv2d(%0, %w1, padding=[1, 1, 1, 1]))
})",
                                                 {{", T]", ", " + dtype + "]"}});
    ConfigChain chain = Chain([](const schedule::Task&) { return 0; });
    const auto model = TasksOf(ir::ParseModule(text).value(), *Target::Parse("cuda -arch=sm_90a"),
                               &chain, passes::LayoutAim::kSettled);
    EXPECT_TRUE(model.ok()) << model.status();
    return ConvolutionsOf(*model);
  };
  EXPECT_THAT(signatures_of("bfloat16"),
              ::testing::ElementsAre("NHWC,NHWC->NHWC", "NHWC,NHWC->NHWC"));
  EXPECT_THAT(signatures_of("float32"),
              ::testing::ElementsAre("NCHW,NCHW->NCHW", "NCHW,NCHW->NCHW"));
}

TEST(LayoutCosts, RecordsThatMakeASignatureFasterFlipTheKernelsToIt) {
  for (const auto aim : {passes::LayoutAim::kSettled, passes::LayoutAim::kExplore}) {
    for (const char* signature : {kBlocked, kRowMajor}) {
      EXPECT_THAT(Chosen(FastestIs(signature), aim), ::testing::ElementsAre(signature, signature));
    }
  }
}

TEST(LayoutCosts, TimesOfOtherMachinesCountForNothing) {
  EXPECT_THAT(Chosen(FastestIs(kRowMajor), passes::LayoutAim::kSettled, "compatible"),
              IsBlockedInside());
}

// All that the row-major model needs is measured, and slow: blocks are tried by a tune, not taken
// by a compile.
TEST(LayoutCosts, OnlyTuningLeavesWhatIsMeasuredForPredictions) {
  const Times slow = [](const schedule::Task& task) {
    return task.signature.ToString() == kRowMajor ? 1e7 : 0;
  };
  EXPECT_THAT(Chosen(slow, passes::LayoutAim::kSettled),
              ::testing::ElementsAre(kRowMajor, kRowMajor));
  EXPECT_THAT(Chosen(slow, passes::LayoutAim::kExplore), IsBlockedInside());
}

// The tune was interrupted: one convolution is measured, slow, and its row-major form leaves no
// doubt that blocks are predicted to be faster.
TEST(LayoutCosts, ACompileKeepsWhatAnInterruptedTuneMeasured) {
  const ir::Module module = ir::ParseModule(R"(
def @main(%x: Tensor[(1, 64, 28, 28), float32], %w0: Tensor[(64, 64, 3, 3), float32],
          %w1: Tensor[(32, 64, 3, 3), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w0, padding=[1, 1, 1, 1]));
  nn.relu(nn.conv2d(%0, %w1, padding=[1, 1, 1, 1]))
})")
                                .value();
  for (const auto aim : {passes::LayoutAim::kSettled, passes::LayoutAim::kExplore}) {
    for (const char* signature : {kRowMajor, kBlocked}) {
      ConfigChain chain = Chain([&](const schedule::Task& task) {
        const bool is_first = task.def->workload.text.find("(32, 64, 3, 3)") == std::string::npos;
        return is_first && task.signature.ToString() == signature ? 1e7 : 0;
      });
      const auto model = TasksOf(module, Avx512(), &chain, aim);
      ASSERT_TRUE(model.ok()) << model.status();
      const auto chosen = ConvolutionsOf(*model);
      const bool is_left =
          signature == std::string(kRowMajor) && aim == passes::LayoutAim::kExplore;
      EXPECT_EQ(chosen.contains(signature), !is_left) << signature;
    }
  }
}

// Avoiding copies because they are not measured would make everything row-major.
TEST(LayoutCosts, WithOneSmallKernelMeasuredUntunedConvolutionsStayBlocked) {
  const ir::Module module = ir::ParseModule(R"(
def @main(%x: Tensor[(1, 64, 28, 28), float32], %w0: Tensor[(64, 64, 3, 3), float32],
          %w1: Tensor[(64, 64, 3, 3), float32], %s: Tensor[(1, 10), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w0, padding=[1, 1, 1, 1]));
  (nn.relu(nn.conv2d(%0, %w1, padding=[1, 1, 1, 1])), nn.softmax(%s))
})")
                                .value();
  ConfigChain chain = Chain([](const schedule::Task& task) {
    return task.def->workload.text.find("softmax") != std::string::npos ? 1e3 : 0;
  });
  const auto model = TasksOf(module, Avx512(), &chain, passes::LayoutAim::kSettled);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(ConvolutionsOf(*model), IsBlockedInside());
}

// Whatever is measured of a concatenation, one that does not run is no task, and keeps nothing out
// of blocks.
TEST(LayoutCosts, ConcatenationsOfWholeBlocksAreNoTasks) {
  const auto model = frontend::ZooModel("squeezenet");
  ASSERT_TRUE(model.ok()) << model.status();
  for (const double ns : {0.0, 1e9}) {
    ConfigChain chain = Chain([&](const schedule::Task& task) {
      return task.def->workload.text.find("concatenate") != std::string::npos ? ns : 0;
    });
    const auto tasks = TasksOf(*model, Avx512(), &chain, passes::LayoutAim::kSettled);
    ASSERT_TRUE(tasks.ok()) << tasks.status();
    for (const TuningTask& task : tasks->tasks) {
      EXPECT_EQ(task.name.find("concatenate"), std::string::npos) << task.name;
    }
    EXPECT_THAT(ConvolutionsOf(*tasks), ::testing::Contains(::testing::EndsWith("->NCHW16c")));
  }
}

std::set<Key> KeysOf(const std::vector<TuningTask>& tasks) {
  std::set<Key> keys;
  for (const TuningTask& task : tasks) {
    keys.emplace(task.def->workload.digest, task.signature.ToString());
  }
  return keys;
}

// Each (task, signature) takes a time drawn by its text. What is submitted is measured; some is
// from the start, as if for another model.
class Farm {
 public:
  explicit Farm(uint64_t seed) : seed_(seed) {}

  // As `hone tune` does; the number of jobs.
  int Tune(const ir::Module& module, int most_jobs) {
    std::set<Key> submitted;
    for (int jobs = 0; jobs < most_jobs; ++jobs) {
      size_t added = 0;
      std::set<Key> wanted = KeysOf(TasksOf(module, passes::LayoutAim::kExplore));
      if (jobs == 0) wanted.merge(UnmeasuredDefaultsOf(module));
      for (const Key& key : wanted) {
        added += submitted.insert(key).second ? 1 : 0;
        measured_.insert(key);
      }
      if (added == 0) return jobs;
    }
    return most_jobs + 1;
  }

  std::vector<TuningTask> TasksOf(const ir::Module& module, passes::LayoutAim aim) {
    ConfigChain chain = Measured();
    const auto model = hone::driver::TasksOf(module, Avx512(), &chain, aim);
    EXPECT_TRUE(model.ok()) << model.status();
    return model->tasks;
  }

  std::set<Key> UnmeasuredDefaultsOf(const ir::Module& module) {
    ConfigChain chain = Measured();
    const auto tasks = UnmeasuredDefaults(std::span(&module, 1), Avx512(), chain);
    EXPECT_TRUE(tasks.ok()) << tasks.status();
    return KeysOf(*tasks);
  }

  const std::set<Key>& measured() const { return measured_; }
  // The time of all calls.
  double TimeOf(const std::vector<TuningTask>& tasks) const {
    double ns = 0;
    for (const TuningTask& task : tasks) {
      ns += task.weight * TimeOf({task.def->workload.digest, task.signature.ToString()});
    }
    return ns;
  }

 private:
  double TimeOf(const Key& key) const { return 1e4 * std::exp2(6 * Draw(key).Uniform()); }
  ConfigChain Measured() {
    return Chain([this](const schedule::Task& task) {
      const Key key{task.def->workload.digest, task.signature.ToString()};
      if (Draw(key).Below(3) == 0) measured_.insert(key);
      return measured_.contains(key) ? TimeOf(key) : 0;
    });
  }
  Random Draw(const Key& key) const {
    return Random(seed_ ^ std::hash<std::string>()(key.first + key.second));
  }

  const uint64_t seed_;
  std::set<Key> measured_;
};

TEST(LayoutCosts, TuningEndsAndCompilesOnlyWhatItMeasured) {
  const auto model = frontend::ZooModel("squeezenet");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto untuned = TasksOf(*model, Avx512());
  ASSERT_TRUE(untuned.ok()) << untuned.status();
  int rounds = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Farm farm(seed);
    const int jobs = farm.Tune(*model, 100);
    EXPECT_LE(jobs, 100);
    rounds = std::max(rounds, jobs);
    for (const Key& key : KeysOf(farm.TasksOf(*model, passes::LayoutAim::kSettled))) {
      EXPECT_TRUE(farm.measured().contains(key)) << key.second;
    }
    // What is taken is not slower than what an untuned compile takes.
    EXPECT_THAT(farm.measured(), ::testing::IsSupersetOf(KeysOf(untuned->tasks)));
    EXPECT_LE(farm.TimeOf(farm.TasksOf(*model, passes::LayoutAim::kSettled)),
              farm.TimeOf(untuned->tasks));
    const std::set<Key> before = farm.measured();
    EXPECT_EQ(farm.Tune(*model, 100), 1);  // a second tune measures nothing
    EXPECT_EQ(farm.measured(), before);
  }
  EXPECT_GT(rounds, 1);
}

}  // namespace
}  // namespace hone::driver
