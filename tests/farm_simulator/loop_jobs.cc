#include <memory>
#include <utility>

#include "tests/farm_simulator/job_layer.h"
#include "tests/tuner/fakes.h"
#include "tuner/jobs/tuning_loop.h"

namespace hone::sim {
namespace {

class LoopJobs final : public JobLayer {
 public:
  explicit LoopJobs(const JobLayerParts& parts)
      : builder_(parts.executor), scheduler_(tuner::MakeGainScheduler()) {
    tuner::TuningParts loop_parts;
    loop_parts.store = parts.store;
    loop_parts.lowerer = &lowerer_;
    loop_parts.builder = &builder_;
    loop_parts.measurer = parts.measurer;
    loop_parts.scheduler = scheduler_.get();
    loop_parts.clock = parts.clock;
    loop_parts.executor = parts.executor;
    loop_parts.planner = parts.executor;
    loop_parts.search = [this](const std::string&) { return &search_; };
    loop_parts.on_fatal = [on_fatal = parts.on_fatal](const absl::Status&) { on_fatal(); };
    tuner::TuningOptions options;
    options.run_limit_ns = kSecond;
    loop_ = std::make_unique<tuner::TuningLoop>(options, loop_parts);
  }

  void Resume() override { loop_->Begin(); }
  void JobSubmitted(int64_t job) override { loop_->JobSubmitted(job); }
  void CancelJob(int64_t job) override {
    loop_->CancelJob(job, [](const absl::Status&) {});
  }
  void PauseJob(int64_t job) override {
    loop_->PauseJob(job, [](const absl::Status&) {});
  }
  void ResumeJob(int64_t job) override {
    loop_->ResumeJob(job, [](const absl::Status&) {});
  }
  void Tick() override { loop_->Tick(); }

 private:
  tuner::FakeLowerer lowerer_;
  tuner::FakeBuilder builder_;
  tuner::FakeSearch search_;
  const std::unique_ptr<tuner::TaskScheduler> scheduler_;
  std::unique_ptr<tuner::TuningLoop> loop_;
};

}  // namespace

std::unique_ptr<JobLayer> MakeLoopJobs(const JobLayerParts& parts) {
  return std::make_unique<LoopJobs>(parts);
}

}  // namespace hone::sim
