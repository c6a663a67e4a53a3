// Reports of jobs, and what they cost the store.
#include "tuner/job_reporter.h"

#include <gtest/gtest.h>

#include "support/digest.h"
#include "tests/tuner/fakes.h"
#include "tuning_db/memory/memory_store.h"

namespace hone::tuner {
namespace {

// Counts what is asked of it.
class CountingStore : public tuning_db::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  absl::StatusOr<tuning_db::Job> GetJob(int64_t id) override {
    ++calls;
    return MemoryStore::GetJob(id);
  }
  absl::StatusOr<tuning_db::Task> GetTask(int64_t id) override {
    ++calls;
    return MemoryStore::GetTask(id);
  }
  absl::StatusOr<std::vector<tuning_db::Task>> TasksOfJob(int64_t job) override {
    ++calls;
    return MemoryStore::TasksOfJob(job);
  }
  absl::StatusOr<std::vector<std::vector<tuning_db::TaskProgress>>> ProgressOfJobs(
      const std::vector<int64_t>& jobs) override {
    ++calls;
    return MemoryStore::ProgressOfJobs(jobs);
  }

  int calls = 0;
};

class JobReporterTest : public ::testing::Test {
 protected:
  tuning_db::Job Submit(int n, int tasks) {
    tuning_db::Job job;
    job.client_id = std::to_string(n);
    job.submitter = "ann";
    for (int i = 0; i < tasks; ++i) {
      tuning_db::Task task;
      task.workload = "conv " + std::to_string(i);
      task.workload_digest = Sha256Hex(task.workload);
      task.target = kFakeTarget;
      const int64_t id = store_.EnsureTask(task).value();
      job.tasks.push_back({.task = id, .signature = "NC->NC", .name = task.workload});
    }
    return store_.SubmitJob(job).value();
  }

  FakeClock clock_;
  CountingStore store_{clock_};
  JobReporter reporter_{&store_};
};

TEST_F(JobReporterTest, AReportCostsAFewQueriesHoweverManyTasksItHas) {
  const int64_t job = Submit(1, 200).id;
  store_.calls = 0;
  const auto info = reporter_.Report(job, JobReporter::Spec::kWhole);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->spec().tasks_size(), 200);
  EXPECT_EQ(info->spec().tasks(199).workload(), "conv 199");
  EXPECT_EQ(info->submitter(), "ann");
  EXPECT_LE(store_.calls, 3);
}

TEST_F(JobReporterTest, AListCostsOneQueryHoweverManyJobsItHas) {
  std::vector<tuning_db::Job> jobs;
  for (int i = 0; i < 50; ++i) jobs.push_back(Submit(i, 3));
  store_.calls = 0;
  const auto infos = reporter_.Report(jobs);
  ASSERT_TRUE(infos.ok()) << infos.status();
  ASSERT_EQ(infos->size(), 50u);
  EXPECT_EQ(infos->at(49).id(), jobs[49].id);
  EXPECT_EQ(infos->at(49).tasks_size(), 3);
  EXPECT_EQ(store_.calls, 1);
}

}  // namespace
}  // namespace hone::tuner
