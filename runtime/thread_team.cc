#include "runtime/thread_team.h"

#include <sched.h>

#include <cstring>
#include <memory>

namespace hone {
namespace {

// About 50-100 us: longer than the gap between two runs of a server that is busy, shorter than what
// a wake-up costs twice over (a futex wake takes 8 us of the caller and 25-45 us until the sleeper
// runs).
constexpr int kSpinsBeforeSleep = 4000;
// Within a run the others are on their way; but somebody else may hold their core.
constexpr int kSpinsBeforeYield = 20000;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  // Where it is not allowed the thread stays free: slower at worst.
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

// Raised in each child of a fork. Cheaper to look at than the process's number, which takes a
// system call.
std::atomic<uint32_t> fork_count{0};

void CountForks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { fork_count.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

}  // namespace

std::vector<int> UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

struct ThreadTeam::Start {
  ThreadTeam* team;
  int thread;
  int core;  // -1: any
  uint32_t seen;
};

ThreadTeam::ThreadTeam(int threads, Placement placement)
    : threads_(threads < 1 ? 1 : threads),
      placement_(placement),
      cores_(UsableCores()),
      // With fewer cores than threads, the one waited for needs this core.
      spins_before_yield_(threads_ > static_cast<int>(cores_.size()) ? 0 : kSpinsBeforeYield) {
  if (threads_ > kMaxThreads) {
    error_ = "expected at most " + std::to_string(kMaxThreads) + " threads, found " +
             std::to_string(threads_);
    threads_ = 1;
  }
  StartThreads();
}

ThreadTeam::~ThreadTeam() {
  if (forks_ == fork_count.load(std::memory_order_relaxed)) StopThreads();
}

void ThreadTeam::StartThreads() {
  if (threads_ > 1) CountForks();
  forks_ = fork_count.load(std::memory_order_relaxed);
  for (int thread = 1; thread < threads_; ++thread) {
    if (StartThread(thread)) continue;
    StopThreads();
    threads_ = 1;
    return;
  }
  const int first = static_cast<int>(cores_.size()) - threads_;
  if (placement_ == Placement::kPinned && first >= 0) PinTo(cores_[first]);
}

bool ThreadTeam::StartThread(int thread) {
  const int first = static_cast<int>(cores_.size()) - threads_;
  const bool pin = placement_ == Placement::kPinned && first >= 0;
  auto start = std::make_unique<Start>(
      Start{this, thread, pin ? cores_[first + thread] : -1, generation_.load()});
  pthread_t started{};
  if (const int fault = pthread_create(&started, nullptr, Enter, start.get()); fault != 0) {
    error_ = "expected to start " + std::to_string(threads_) + " threads, could start " +
             std::to_string(thread) + ": " + std::strerror(fault) + "; ask for fewer";
    return false;
  }
  start.release();  // the thread's now
  team_.push_back(started);
  return true;
}

void* ThreadTeam::Enter(void* start) {
  const std::unique_ptr<Start> own(static_cast<Start*>(start));
  if (own->core >= 0) PinTo(own->core);
  own->team->Work(own->thread, own->seen);
  return nullptr;
}

void ThreadTeam::StopThreads() {
  stopping_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (const pthread_t thread : team_) pthread_join(thread, nullptr);
  team_.clear();
  stopping_.store(false);
}

// The fork may have come in the midst of a run of another thread, which is not in this process.
void ThreadTeam::RestartInChild() {
  team_.clear();
  sleeping_.store(0);
  arrived_.store(0);
  phase_.store(0);
  StartThreads();
}

void ThreadTeam::Run(void (*body)(void* context, int thread), void* context) {
  if (threads_ == 1) return body(context, 0);
  if (forks_ != fork_count.load(std::memory_order_relaxed)) {
    RestartInChild();
    if (threads_ == 1) return body(context, 0);  // slower, and right all the same
  }
  body_ = body;
  context_ = context;
  finished_.store(0, std::memory_order_relaxed);
  generation_.fetch_add(1);  // publishes body_ and context_
  if (sleeping_.load() > 0) generation_.notify_all();
  body(context, 0);
  for (int spins = 0; finished_.load(std::memory_order_acquire) != threads_ - 1; ++spins) {
    Pause();
    if (spins >= spins_before_yield_) sched_yield();
  }
}

void ThreadTeam::Work(int thread, uint32_t seen) {
  while (true) {
    for (int spins = 0;
         spins < kSpinsBeforeSleep && generation_.load(std::memory_order_acquire) == seen;
         ++spins) {
      Pause();
    }
    if (generation_.load() == seen) {
      // Counted before the last look at the generation, which `wait` takes: Run either sees the
      // sleeper or is seen.
      sleeping_.fetch_add(1);
      generation_.wait(seen);
      sleeping_.fetch_sub(1);
    }
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load()) return;
    body_(context_, thread);
    finished_.fetch_add(1, std::memory_order_release);
  }
}

void ThreadTeam::Barrier() {
  if (threads_ == 1) return;
  const uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  for (int spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins) {
    Pause();
    if (spins >= spins_before_yield_) sched_yield();
  }
}

}  // namespace hone
