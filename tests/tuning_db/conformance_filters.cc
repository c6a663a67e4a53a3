// What the log is asked: filters, single records, finals and statistics. Whatever a store answers
// is what the store in memory answers, which looks at everything.
#include <future>
#include <map>
#include <utility>

#include "support/clock.h"
#include "support/random.h"
#include "tests/tuning_db/conformance.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kFirstNs = 1'700'000'000'000'000'000;

Task TaskOf(const std::string& workload, const std::string& target) {
  Task task;
  task.workload = workload;
  task.workload_digest = Sha256Hex(workload);
  task.anchor_digest = Sha256Hex("anchor" + workload);
  task.target = target;
  return task;
}

const std::vector<std::string>& Workloads() {
  static const std::vector<std::string> workloads = {
      "fn (p0: Tensor[(1, 64, 56, 56), float32], const p1: Tensor[(64, 64, 3, 3), float32]) { "
      "%0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
      "fn (p0: Tensor[(1, 64, 56, 56), float32]) { nn.conv2d_transpose(p0) }",
      "fn (p0: Tensor[(164), float32]) { add(nn.relu(p0), p0) }",
      "fn (p0: Tensor[(1, 64), float32], const p1: Tensor[(10, 64), float32]) { nn.dense(p0, p1) }",
  };
  return workloads;
}

// The same log in the store and in memory: tasks, jobs, devices, purposes, outcomes and times in no
// order, some of it retracted, with finals.
void Fill(Store& store, int records) {
  Random random(11);
  std::vector<int64_t> tasks;
  std::vector<int64_t> jobs;
  for (const std::string& workload : Workloads()) {
    for (const char* target : {"llvm -mcpu=znver4 -threads=2", "llvm -mcpu=znver5 -threads=2"}) {
      tasks.push_back(store.EnsureTask(TaskOf(workload, target)).value());
    }
  }
  for (int n = 0; n < 3; ++n) {
    Job job = ExampleJob(tasks[0], "client-" + std::to_string(n));
    job.tasks.clear();
    for (const int64_t task : tasks) job.tasks.push_back({task, kSignature, "conv", 1, 64});
    jobs.push_back(store.SubmitJob(job).value().id);
  }
  for (int n = 0; n < records; ++n) {
    // An own variable each: the order in which arguments are evaluated is the compiler's.
    const int64_t task = tasks[random.Below(tasks.size())];
    const int64_t job = random.Below(4) == 0 ? 0 : jobs[random.Below(jobs.size())];
    Trial wanted = ExampleTrial(task, job, n);
    if (random.Below(4) == 0) wanted.purpose = static_cast<Purpose>(random.Below(4));
    if (random.Below(5) == 0) wanted.signature = "NC->NC";
    const Trial trial = store.Propose({wanted}).value().at(0);
    Record record = ExampleRecord(trial.id);
    if (random.Below(4) == 0) record.outcome = static_cast<Outcome>(random.Below(11));
    record.device = "cpu " + std::to_string(random.Below(12));
    record.wall_time_ns = kFirstNs + static_cast<int64_t>(random.Below(100)) * kHourNs;
    const int64_t fence = store.Lease(trial.id, "worker-1").value().fence;
    ASSERT_EQ(store.Settle(fence, record).value(), SettleResult::kSettled);
    if (random.Below(20) == 0) ASSERT_TRUE(store.Retract(n + 1, "why not").ok());
  }
  for (int n = 0; n < 20; ++n) {
    const int64_t task = tasks[random.Below(tasks.size())];
    const int64_t job = random.Below(2) == 0 ? 0 : jobs[0];
    Final final = ExampleFinal(task, job, n);
    if (random.Below(3) == 0) final.signature = "NC->NC";
    final.device = "cpu " + std::to_string(random.Below(12));
    final.wall_time_ns = kFirstNs + static_cast<int64_t>(random.Below(100)) * kHourNs;
    store.AddFinal(final).value();
  }
}

RecordFilter AnyFilter(Random& random) {
  RecordFilter filter;
  const auto is_said = [&] { return random.Below(4) == 0; };
  if (is_said()) filter.task = 1 + static_cast<int64_t>(random.Below(9));
  if (is_said()) filter.signature = random.Below(2) == 0 ? "NC->NC" : "none";
  if (is_said()) filter.job = static_cast<int64_t>(random.Below(5));
  if (is_said()) filter.purpose = static_cast<Purpose>(random.Below(4));
  if (is_said()) filter.target = "llvm -mcpu=znver4 -threads=2";
  if (is_said()) filter.target_part = random.Below(2) == 0 ? "znver5" : "threads";
  if (is_said()) filter.workload_substring = random.Below(2) == 0 ? "relu" : "const";
  if (is_said()) filter.op = random.Below(2) == 0 ? "nn.conv2d" : "nn.relu";
  if (is_said()) filter.shape = random.Below(2) == 0 ? "1x64x56x56" : "1,64";
  if (is_said()) filter.outcome = static_cast<Outcome>(random.Below(11));
  if (is_said()) filter.is_failure = true;
  if (is_said()) filter.device = "cpu 1";
  if (is_said()) filter.device_prefix = random.Below(2) == 0 ? "cpu 1" : "cpu";
  if (is_said())
    filter.since_wall_ns = kFirstNs + static_cast<int64_t>(random.Below(110)) * kHourNs;
  if (is_said())
    filter.before_wall_ns = kFirstNs + static_cast<int64_t>(random.Below(110)) * kHourNs;
  if (is_said()) filter.with_retracted = true;
  return filter;
}

// All of them, page by page.
std::vector<int64_t> IdsInPages(Store& store, const RecordFilter& filter, Order order,
                                int64_t limit) {
  std::vector<int64_t> ids;
  std::string cursor;
  for (;;) {
    const RecordPage page = store.ListRecords(filter, order, cursor, limit).value();
    for (const int64_t id : Ids(page.records)) ids.push_back(id);
    if (page.is_last) return ids;
    cursor = page.next;
  }
}

std::vector<int64_t> FinalsInPages(Store& store, const RecordFilter& filter, int64_t limit) {
  std::vector<int64_t> ids;
  std::string cursor;
  for (;;) {
    const FinalPage page = store.ListFinals(filter, cursor, limit).value();
    for (const TaskFinal& next : page.finals) ids.push_back(next.final.id);
    if (page.is_last) return ids;
    cursor = page.next;
  }
}

std::map<std::string, std::vector<int64_t>> ByName(const std::vector<LogCount>& counts) {
  std::map<std::string, std::vector<int64_t>> by_name;
  for (const LogCount& count : counts) by_name[count.name] = {count.records, count.failures};
  return by_name;
}

void ExpectEqual(const LogStats& stats, const LogStats& expected) {
  EXPECT_EQ(stats.records, expected.records);
  EXPECT_EQ(stats.failures, expected.failures);
  EXPECT_EQ(stats.tasks, expected.tasks);
  EXPECT_EQ(stats.finals, expected.finals);
  EXPECT_EQ(stats.first_wall_ns, expected.first_wall_ns);
  EXPECT_EQ(stats.last_wall_ns, expected.last_wall_ns);
  EXPECT_EQ(ByName(stats.outcomes), ByName(expected.outcomes));
  EXPECT_EQ(ByName(stats.purposes), ByName(expected.purposes));
  EXPECT_EQ(ByName(stats.targets), ByName(expected.targets));
  EXPECT_EQ(ByName(stats.devices), ByName(expected.devices));
  EXPECT_EQ(ByName(stats.days), ByName(expected.days));
}

TEST_P(Conformance, WhateverIsAskedTheAnswerIsThatOfALookAtEverything) {
  const auto oracle = MakeMemoryStore();
  Fill(*oracle, 300);
  Fill(*store_, 300);
  Random random(5);
  for (int n = 0; n < 300; ++n) {
    const RecordFilter filter = AnyFilter(random);
    const int64_t limit = 1 + static_cast<int64_t>(random.Below(60));
    for (const Order order : {Order::kOldestFirst, Order::kNewestFirst}) {
      ASSERT_EQ(IdsInPages(*store_, filter, order, limit), IdsInPages(*oracle, filter, order, 0))
          << "question " << n;
    }
    ASSERT_EQ(FinalsInPages(*store_, filter, 1 + limit / 20), FinalsInPages(*oracle, filter, 0))
        << "question " << n;
    if (n % 10 == 0) {
      ExpectEqual(store_->Stats(filter).value(), oracle->Stats(filter).value());
    }
  }
}

TEST_P(Conformance, TasksAreFoundByOperatorShapeAndPartsOfTheirTexts) {
  for (const std::string& workload : Workloads()) {
    const int64_t task = store_->EnsureTask(TaskOf(workload, "llvm -mcpu=znver4")).value();
    SettleOne(*store_, ExampleTrial(task, 0));
  }
  const auto ids = [&](const RecordFilter& filter) { return Ids(store_->Records(filter).value()); };
  EXPECT_THAT(ids({.op = "nn.conv2d"}), ElementsAre(1)) << "a name is a whole word";
  EXPECT_THAT(ids({.op = "conv2d"}), IsEmpty());
  EXPECT_THAT(ids({.op = "nn.relu"}), ElementsAre(1, 3));
  EXPECT_THAT(ids({.shape = "1x64x56x56"}), ElementsAre(1, 2));
  EXPECT_THAT(ids({.shape = "(1, 64)"}), ElementsAre(4)) << "a shape is whole, too";
  EXPECT_THAT(ids({.shape = "10,64"}), ElementsAre(4));
  EXPECT_THAT(ids({.shape = "164"}), ElementsAre(3));
  EXPECT_THAT(ids({.shape = "64"}), IsEmpty());
  EXPECT_THAT(ids({.target_part = "znver4"}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids({.target_part = "znver5"}), IsEmpty());
  EXPECT_THAT(ids({.op = "nn.relu", .shape = "1x64x56x56"}), ElementsAre(1));
}

TEST_P(Conformance, FiltersThatSayNothingSensibleAreRefused) {
  for (const char* shape :
       {"x", "1x", "x1", "1xx2", "(1, 2", "1x-2", "large", "99999999999999999999"}) {
    const absl::Status refused = store_->Records({.shape = shape}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << shape;
    EXPECT_THAT(refused.ToString(), testing::HasSubstr("expected a shape such as")) << shape;
    EXPECT_TRUE(absl::IsInvalidArgument(store_->Stats({.shape = shape}).status())) << shape;
    EXPECT_TRUE(absl::IsInvalidArgument(store_->Finals({.shape = shape}).status())) << shape;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(store_->Records({.op = "nn.relu(p0)"}).status()));
}

TEST_P(Conformance, ARecordIsReadWithAllThatRepeatsIt) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  SettleOne(*store_, ExampleTrial(task, job));
  Trial confirm = ExampleTrial(task, 0, 1);
  confirm.purpose = Purpose::kConfirm;
  SettleOne(*store_, confirm);
  Final final = ExampleFinal(task, 0);
  final.record = 2;
  store_->AddFinal(final).value();
  ASSERT_TRUE(store_->Retract(1, "a test").ok());
  Reopen();
  const RecordDetail first = store_->GetRecord(1).value();
  EXPECT_EQ(first.task.workload, ExampleTask().workload);
  EXPECT_EQ(first.task.anchor_digest, ExampleTask().anchor_digest);
  EXPECT_EQ(first.record.of_trial.config, ExampleTrial(task, job).config);
  EXPECT_EQ(first.record.of_trial.attempt, 1);
  EXPECT_THAT(first.record.samples_ns, SizeIs(3));
  EXPECT_EQ(first.record.retracted, "a test");
  EXPECT_EQ(first.constant_bytes, ExampleJob(task).constant_bytes);
  EXPECT_EQ(first.final, 0);
  const RecordDetail second = store_->GetRecord(2).value();
  EXPECT_EQ(second.constant_bytes, 0);
  EXPECT_EQ(second.final, 1);
  EXPECT_TRUE(absl::IsNotFound(store_->GetRecord(3).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->GetRecord(0).status()));
}

TEST_P(Conformance, StatisticsCountWhatMatches) {
  EXPECT_EQ(store_->Stats({}).value().records, 0);
  EXPECT_EQ(store_->Stats({}).value().first_wall_ns, 0);
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  for (int n = 0; n < 3; ++n) SettleOne(*store_, ExampleTrial(task, 0, n));
  const Trial trial = store_->Propose({ExampleTrial(task, 0, 3)}).value().at(0);
  Record crash = ExampleRecord(trial.id, 0);
  crash.outcome = Outcome::kCrash;
  crash.device = "cpu of another";
  crash.wall_time_ns += 24 * kHourNs;
  store_->Settle(store_->Lease(trial.id, "w").value().fence, crash).value();
  store_->AddFinal(ExampleFinal(task, 0)).value();
  const LogStats stats = store_->Stats({}).value();
  EXPECT_EQ(stats.records, 4);
  EXPECT_EQ(stats.failures, 1);
  EXPECT_EQ(stats.tasks, 1);
  EXPECT_EQ(stats.finals, 1);
  EXPECT_EQ(stats.first_wall_ns, kFirstNs);
  EXPECT_EQ(stats.last_wall_ns, kFirstNs + 24 * kHourNs);
  ASSERT_THAT(stats.outcomes, SizeIs(2));
  EXPECT_EQ(stats.outcomes[1].name, "crash");
  ASSERT_THAT(stats.devices, SizeIs(2));
  EXPECT_EQ(stats.devices[0].name, "cpu of a test") << "the most first";
  ASSERT_THAT(stats.days, SizeIs(2));
  EXPECT_EQ(stats.days[0].name, "2023-11-15") << "the newest first";
  EXPECT_EQ(stats.days[1].records, 3);
  EXPECT_EQ(store_->Stats({.is_failure = true}).value().records, 1);
  ASSERT_TRUE(store_->Retract(1, "a test").ok());
  EXPECT_EQ(store_->Stats({}).value().records, 3);
  EXPECT_EQ(store_->Stats({.with_retracted = true}).value().records, 4);
}

TEST_P(Conformance, ManyRecordsAreFoundByTimeWhereverTheyAre) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  std::vector<Trial> wanted;
  for (int n = 0; n < 2500; ++n) wanted.push_back(ExampleTrial(task, 0, n));
  std::vector<LeaseRequest> requests;
  const std::vector<Trial> proposed = store_->Propose(wanted).value();
  for (const Trial& trial : proposed) {
    requests.push_back({.trial = trial.id, .worker = "worker-1", .device = "cpu"});
  }
  std::promise<TrialStore::LeaseAnswers> leased;
  ASSERT_TRUE(
      store_->LeaseMany(requests, [&](auto answers) { leased.set_value(std::move(answers)); })
          .ok());
  // More than two blocks of ids, with some in the middle that are older than the rest.
  std::vector<Settlement> settlements;
  const TrialStore::LeaseAnswers leases = leased.get_future().get();
  for (const auto& trial : leases) {
    const auto n = static_cast<int64_t>(settlements.size());
    Record record = ExampleRecord(trial->id);
    record.wall_time_ns = n >= 1200 && n < 1210 ? kFirstNs - kHourNs : kFirstNs + n * kHourNs;
    settlements.push_back({.fence = trial->fence, .record = record});
  }
  std::promise<TrialStore::SettleAnswers> settled;
  ASSERT_TRUE(
      store_->SettleMany(settlements, [&](auto answers) { settled.set_value(std::move(answers)); })
          .ok());
  settled.get_future().wait();
  for (const Order order : {Order::kOldestFirst, Order::kNewestFirst}) {
    EXPECT_THAT(IdsInPages(*store_, {.before_wall_ns = kFirstNs}, order, 4), SizeIs(10));
    EXPECT_THAT(IdsInPages(*store_, {.since_wall_ns = kFirstNs + 2490 * kHourNs}, order, 4),
                SizeIs(10));
    EXPECT_THAT(IdsInPages(*store_,
                           {.since_wall_ns = kFirstNs + 1020 * kHourNs,
                            .before_wall_ns = kFirstNs + 1030 * kHourNs},
                           order, 4),
                SizeIs(10));
    EXPECT_THAT(IdsInPages(*store_, {.before_wall_ns = 1}, order, 4), IsEmpty());
  }
}

}  // namespace
}  // namespace hone::tuning_db
