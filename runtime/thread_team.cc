#include "runtime/thread_team.h"

#include <pthread.h>
#include <sched.h>

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

ThreadTeam::ThreadTeam(int threads, Placement placement)
    : threads_(threads < 1 ? 1 : threads),
      placement_(placement),
      // With fewer cores than threads, the one waited for needs this core.
      spins_before_yield_(threads_ > static_cast<int>(UsableCores().size()) ? 0
                                                                            : kSpinsBeforeYield) {
  const std::vector<int> cores = UsableCores();
  const int first = static_cast<int>(cores.size()) - threads_;
  const bool pin = placement_ == Placement::kPinned && first >= 0;
  for (int thread = 1; thread < threads_; ++thread) {
    const int core = pin ? cores[first + thread] : -1;
    team_.emplace_back([this, thread, core] {
      if (core >= 0) PinTo(core);
      Work(thread);
    });
  }
  if (pin) PinTo(cores[first]);
}

ThreadTeam::~ThreadTeam() {
  stopping_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& thread : team_) thread.join();
}

void ThreadTeam::Run(void (*body)(void* context, int thread), void* context) {
  if (threads_ == 1) return body(context, 0);
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

void ThreadTeam::Work(int thread) {
  uint32_t seen = 0;
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
