#include "tuner/builder/client/builder_pool.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "support/child_process.h"
#include "support/clock.h"
#include "support/status.h"
#include "tuner/builder/client/builder_check.h"

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
  Process process;
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

absl::StatusOr<std::string> BuilderPool::Receive(BuilderProcess& process, int64_t deadline_ns) {
  while (true) {
    absl::StatusOr<std::string> message = process.Receive(kTickNs);
    if (message.ok()) return message;
    if (!absl::IsDeadlineExceeded(message.status())) {
      return absl::UnavailableError(
          fmt::format("the builder {} ended before it had answered", options_.executable));
    }
    if (stopping()) return absl::CancelledError("the builders are shutting down");
    if (Clock::Real().NowNs() > deadline_ns) {
      return absl::DeadlineExceededError("the builder did not answer in time and was killed");
    }
  }
}

absl::Status BuilderPool::Start(Process& process) {
  HONE_ASSIGN_OR_RETURN(process.process, BuilderProcess::Start(options_.executable));
  const int64_t deadline_ns = Clock::Real().NowNs() + options_.grace_ns;
  const absl::StatusOr<std::string> message = Receive(*process.process, deadline_ns);
  if (absl::IsDeadlineExceeded(message.status())) return NoHello(options_.executable);
  HONE_RETURN_IF_ERROR(message.status());
  HONE_ASSIGN_OR_RETURN(process.hello, ParseHello(*message));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (first_hello_.toolchains().empty()) first_hello_ = process.hello;
  return absl::OkStatus();
}

void BuilderPool::RunJob(Job& job, Process& process) {
  Requests open;
  for (auto& request : *job.batch.mutable_requests()) {
    if (request.limit_ns() <= 0) request.set_limit_ns(options_.default_limit_ns);
    open.emplace(request.id(), request);
  }
  absl::Status failure = process.process ? absl::OkStatus() : Start(process);
  if (failure.ok()) RefuseWhatItCannotBuild(job, process, open);
  if (failure.ok() && !open.empty()) failure = Build(job, process, open);
  if (failure.ok()) return;
  process.process.reset();
  for (const auto& [id, request] : open) job.done(id, failure);
}

hone::v1::BuilderHello BuilderPool::FirstHello() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return first_hello_;
}

void BuilderPool::RefuseWhatItCannotBuild(const Job& job, const Process& process, Requests& open) {
  const hone::v1::BuilderHello first = FirstHello();
  for (auto it = open.begin(); it != open.end();) {
    const auto& [id, request] = *it;
    const absl::Status can = CanBuild(process.hello, first, request);
    if (!can.ok()) job.done(id, can);
    it = can.ok() ? std::next(it) : open.erase(it);
  }
}

absl::Status BuilderPool::Build(const Job& job, Process& process, Requests& open) {
  hone::v1::BuildBatch batch;
  for (const auto& [id, request] : open) *batch.add_requests() = request;
  HONE_RETURN_IF_ERROR(process.process->Send(batch.SerializeAsString()));
  const int64_t deadline_ns = Clock::Real().NowNs() + LimitNs(batch);
  while (!open.empty()) {
    const absl::StatusOr<std::string> message = Receive(*process.process, deadline_ns);
    if (absl::IsDeadlineExceeded(message.status())) {
      return absl::UnavailableError(message.status().message());
    }
    HONE_RETURN_IF_ERROR(message.status());
    hone::v1::BuildReply reply;
    const auto known = reply.ParseFromString(*message) ? open.find(reply.id()) : open.end();
    if (known == open.end()) {
      return absl::UnavailableError("the builder answered what nobody asked");
    }
    HONE_RETURN_IF_ERROR(IsAnswer(process.hello, known->second, reply));
    const uint64_t id = known->first;
    open.erase(known);
    job.done(id, std::move(reply));
  }
  return absl::OkStatus();
}

}  // namespace hone::tuner
