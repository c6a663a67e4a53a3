// From records of calibration to a table of micro-kernels.
#include "tuner/calibration/micro_kernels_in.h"

#include <gtest/gtest.h>

#include "support/digest.h"

namespace hone::tuner {
namespace {

using tuning_db::Purpose;

CpuTarget TargetOf(int threads) {
  const std::string cpu = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=";
  return *CpuTarget::Parse(cpu + std::to_string(threads));
}

class MicroKernelsInTest : public ::testing::Test {
 protected:
  // Each config of a task is as fast as the others.
  void Measure(const schedule::MicroKernelTask& measured, const std::string& toolchain) {
    tuning_db::Task task;
    task.workload = measured.workload;
    task.workload_digest = measured.workload_digest;
    task.target = measured.target;
    tuning_db::Trial trial;
    trial.task = store_->EnsureTask(task).value();
    trial.signature = measured.signature;
    trial.purpose = Purpose::kCalibrate;
    tuning_db::Record record;
    record.median_ns = 1000;
    record.anchor_ns = 1000;
    record.toolchain = toolchain;
    for (const std::string& config : measured.configs) {
      trial.config = config;
      trial.config_digest = Sha256Hex(config);
      store_->Import(trial, record).value();
    }
  }
  std::shared_ptr<const schedule::MicroKernelTimes> Found(int threads = 1) {
    return MicroKernelsIn(*store_, TargetOf(threads)).value();
  }

  const std::vector<schedule::MicroKernelTask> tasks_ = schedule::MicroKernelTasksOf(TargetOf(2));
  std::unique_ptr<tuning_db::Store> store_ = tuning_db::MakeMemoryStore();
};

TEST_F(MicroKernelsInTest, TilesAreATableForAnyNumberOfThreadsAndTheStreamAddsToIt) {
  EXPECT_EQ(Found(), nullptr);
  Measure(tasks_[0], "llvm 19");
  ASSERT_NE(Found(), nullptr);
  EXPECT_EQ(Found()->StreamBytesACycle(), std::nullopt);
  Measure(tasks_[1], "llvm 19");
  EXPECT_NE(Found()->StreamBytesACycle(), std::nullopt);
  EXPECT_EQ(*Found(2), *Found());
}

TEST_F(MicroKernelsInTest, AStreamOfAnotherToolchainIsTaken) {
  Measure(tasks_[1], "llvm 20");
  EXPECT_EQ(Found(), nullptr);
  Measure(tasks_[0], "llvm 19");
  ASSERT_NE(Found(), nullptr);
  EXPECT_NE(Found()->StreamBytesACycle(), std::nullopt);
}

}  // namespace
}  // namespace hone::tuner
