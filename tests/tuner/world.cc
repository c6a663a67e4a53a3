#include "tests/tuner/world.h"

#include <gtest/gtest.h>

#include "support/digest.h"
#include "tests/tuner/end_state.h"
#include "tuner/search_names.h"

namespace hone::tuner {

constexpr int64_t kOwnerLeaseNs = 10'000'000'000;

World::World(TuningOptions o, DispatcherOptions farm)
    : options(std::move(o)),
      farm_options(std::move(farm)),
      shared(std::make_shared<SharedStore>()),
      clock(shared->clock),
      store(shared->store),
      subscription_(store->Subscribe(
          [this](const tuning_db::Change& change) { events.push_back(change.job); })) {
  Start();
}

World::World(std::shared_ptr<SharedStore> of_all, const std::string& name)
    : shared(std::move(of_all)),
      clock(shared->clock),
      store(shared->store),
      owner(name),
      subscription_(store->Subscribe(
          [this](const tuning_db::Change& change) { events.push_back(change.job); })) {
  Start();
}

World::~World() {
  for (auto& [name, worker] : workers) worker->Disconnect(true);
}

void World::Start() {
  if (!owner.empty()) {
    farm_options.ownership = store->BeginEpoch(owner, kOwnerLeaseNs).value();
    ASSERT_TRUE(store->TakeJobs(farm_options.ownership, kOwnerLeaseNs).ok());
  }
  scheduler_ = MakeGainScheduler();
  builder = std::make_unique<FakeBuilder>(&executor);
  dispatcher = std::make_unique<Dispatcher>(farm_options, store.get(), &clock, &executor, [this] {
    ++device_changes;
    loop->Tick();
  });
  TuningParts parts;
  parts.store = store.get();
  parts.lowerer = &lowerer;
  parts.builder = builder.get();
  parts.measurer = dispatcher.get();
  parts.scheduler = scheduler_.get();
  parts.clock = &clock;
  parts.executor = &executor;
  parts.planner = &planner;
  parts.search = [this](const std::string& name) {
    return name == "fake" || name == kCalibratingSearch.name ? &search_ : nullptr;
  };
  if (!owner.empty()) parts.ownership = farm_options.ownership;
  parts.is_private = is_private;
  parts.on_waiting = [this](int64_t task, const std::string& signature, const std::string& what) {
    waiting[{task, signature}] = what;
  };
  parts.on_fatal = [this](const absl::Status& status) { fatal.push_back(status); };
  loop = std::make_unique<TuningLoop>(options, parts);
  loop->Begin();
}

void World::Restart() {
  // What the dying daemon had not done yet is never done.
  for (auto& [name, worker] : workers) worker->Disconnect(false);
  executor.Clear();
  planner.Clear();
  loop.reset();
  dispatcher.reset();
  Start();
  // A daemon takes up what is open before it serves anybody.
  Drain();
  for (auto& [name, worker] : workers) {
    worker->SetDispatcher(dispatcher.get());
    worker->Connect();
  }
}

FakeWorker& World::AddWorker(const std::string& name, int credit, const std::string& target) {
  auto& worker = workers[name];
  worker = std::make_unique<FakeWorker>(name, dispatcher.get(), credit);
  worker->target = target;
  worker->Connect();
  return *worker;
}

int64_t World::Submit(const JobWish& wish) {
  tuning_db::Job job;
  job.client_id = wish.client_id;
  job.model = "model";
  job.target = wish.target;
  job.constant_bytes = wish.constant_bytes;
  job.seed = wish.seed;
  job.search = wish.search;
  job.ends_early = wish.ends_early;
  job.elsewhere_ns = wish.elsewhere_ns;
  job.deadline_ns = wish.deadline_ns;
  job.priority = wish.priority;
  job.submitter = wish.submitter;
  job.is_private = wish.is_private;
  job.sandbox = wish.sandbox;
  job.device_class = wish.device_class;
  if (!owner.empty()) {
    job.owner = farm_options.ownership.owner;
    job.epoch = farm_options.ownership.epoch;
  }
  for (const std::string& workload : wish.workloads) {
    tuning_db::Task task;
    task.workload = workload;
    task.workload_digest = Sha256Hex(workload);
    task.target = wish.target;
    tuning_db::JobTask wanted;
    wanted.task = store->EnsureTask(task).value();
    wanted.signature = "NC->NC";
    wanted.name = workload;
    wanted.trials = wish.trials;
    job.tasks.push_back(wanted);
  }
  const int64_t id = store->SubmitJob(job).value().id;
  loop->JobSubmitted(id);
  return id;
}

bool World::Step() {
  if (executor.RunOne()) return true;
  for (auto& [name, worker] : workers) {
    if (worker->RunOne()) return true;
  }
  return false;
}

void World::Run(int limit) {
  for (int steps = 0; Step(); ++steps) {
    if (limit > 0 && steps + 1 >= limit) return;
    ASSERT_LT(steps, 200'000) << "the tuner runs in a circle";
  }
}

void World::Drain() {
  while (executor.RunOne()) {
  }
}

void World::Wait(int64_t ns) {
  const int64_t end = clock.now_ns + ns;
  while (clock.now_ns < end) {
    clock.now_ns += 100'000'000;
    dispatcher->Tick();
    loop->Tick();
    Run();
  }
}

tuning_db::Job World::GetJob(int64_t id) { return store->GetJob(id).value(); }

std::vector<tuning_db::Record> World::Records(tuning_db::Purpose purpose) {
  tuning_db::RecordFilter filter;
  filter.purpose = purpose;
  return store->Records(filter).value();
}

std::string World::EndState() { return EndStateOf(*store); }

}  // namespace hone::tuner
