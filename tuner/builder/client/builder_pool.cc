#include "tuner/builder/client/builder_pool.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <set>

#include "support/child_process.h"
#include "support/clock.h"

namespace hone::tuner {
namespace {

// How often a thread that waits for its builder looks whether the pool is going.
constexpr int64_t kTickNs = 100 * 1000 * 1000;

// A pipe whose reader died is an error to handle, not a signal.
void BlockBrokenPipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

std::string DefaultBuilderExecutable() { return ExecutableFolder() + "/hone-builder"; }

BuilderPool::BuilderPool(Options options) : options_(std::move(options)) {
  for (int i = 0; i < std::max(options_.processes, 1); ++i) {
    threads_.emplace_back([this] { Serve(); });
  }
}

BuilderPool::~BuilderPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (Job& job : jobs_) {
    for (const auto& request : job.batch.requests()) {
      job.done(request.id(), absl::CancelledError("the builders are shutting down"));
    }
  }
}

bool BuilderPool::stopping() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stopping_;
}

void BuilderPool::Build(const hone::v1::BuildBatch& batch, BuildCallback done) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back({batch, std::move(done)});
  }
  changed_.notify_one();
}

void BuilderPool::Serve() {
  BlockBrokenPipe();
  std::unique_ptr<BuilderProcess> process;
  while (true) {
    Job job;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    RunJob(job, process);
  }
}

int64_t BuilderPool::LimitNs(const hone::v1::BuildBatch& batch) const {
  int64_t limit_ns = options_.grace_ns;
  for (const auto& request : batch.requests()) {
    // Twice: in a child that has built others, and in a fresh one.
    limit_ns += 2 * (request.limit_ns() > 0 ? request.limit_ns() : options_.default_limit_ns);
  }
  return limit_ns;
}

void BuilderPool::RunJob(Job& job, std::unique_ptr<BuilderProcess>& process) {
  std::multiset<uint64_t> open;
  for (auto& request : *job.batch.mutable_requests()) {
    open.insert(request.id());
    if (request.limit_ns() <= 0) request.set_limit_ns(options_.default_limit_ns);
  }
  absl::Status failure;
  if (!process) {
    absl::StatusOr<std::unique_ptr<BuilderProcess>> started =
        BuilderProcess::Start(options_.executable);
    if (started.ok()) {
      process = *std::move(started);
    } else {
      failure = started.status();
    }
  }
  if (failure.ok()) failure = process->Send(job.batch.SerializeAsString());
  const int64_t deadline_ns = Clock::Real().NowNs() + LimitNs(job.batch);
  while (failure.ok() && !open.empty()) {
    absl::StatusOr<std::string> message = process->Receive(kTickNs);
    if (message.status().code() == absl::StatusCode::kDeadlineExceeded) {
      if (stopping()) {
        failure = absl::CancelledError("the builders are shutting down");
      } else if (Clock::Real().NowNs() > deadline_ns) {
        failure = absl::UnavailableError("the builder did not answer in time and was killed");
      }
      continue;
    }
    if (!message.ok()) {
      failure = absl::UnavailableError(
          fmt::format("the builder {} ended within a batch", options_.executable));
      continue;
    }
    hone::v1::BuildReply reply;
    const auto known = reply.ParseFromString(*message) ? open.find(reply.id()) : open.end();
    if (known == open.end()) {
      failure = absl::UnavailableError("the builder answered what nobody asked");
      continue;
    }
    const uint64_t id = *known;
    open.erase(known);
    job.done(id, std::move(reply));
  }
  if (failure.ok()) return;
  process.reset();
  for (const uint64_t id : open) job.done(id, failure);
}

}  // namespace hone::tuner
