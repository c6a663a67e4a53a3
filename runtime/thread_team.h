// A team of threads that run one function together (SPMD). A run of a model enters it once.
#ifndef HONE_RUNTIME_THREAD_TEAM_H_
#define HONE_RUNTIME_THREAD_TEAM_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace hone {

// The most threads of a team. No machine gains from more, and every machine can start this many.
// Targets and options have the same bound.
inline constexpr int kMaxThreads = 1024;

// The caller of Run is thread 0. Between runs the others spin for a while and then sleep. A team of
// one starts no threads and uses no atomics. Run may be called from any thread, but only one Run at
// a time. A child of fork(), which has none of its parent's threads, starts its own at its first
// Run.
class ThreadTeam {
 public:
  // With kPinned each thread, including the caller of Run, is pinned to a core of its own, taken
  // from the end of the list of usable cores. This is for measurements, where the caller does
  // nothing else.
  enum class Placement { kFree, kPinned };

  // If not all threads can be started, or if `threads` exceeds kMaxThreads, this is a team of one
  // thread, and error() says why.
  explicit ThreadTeam(int threads, Placement placement = Placement::kFree);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return threads_; }
  // Why the team has one thread only; empty if nothing went wrong.
  const std::string& error() const { return error_; }

  // Calls body(context, t) on every thread t, and returns when all calls have returned.
  void Run(void (*body)(void* context, int thread), void* context);

  // Every thread must call this within Run. No thread goes on before all have arrived, and each
  // then sees what all others wrote before the barrier.
  void Barrier();

 private:
  struct Start;  // what a new thread is given
  static void* Enter(void* start);
  void StartThreads();
  bool StartThread(int thread);
  void StopThreads();
  void RestartInChild();
  void Work(int thread, uint32_t seen);

  int threads_;
  const Placement placement_;
  const std::vector<int> cores_;  // usable before any thread was pinned
  const int spins_before_yield_;
  std::string error_;
  uint32_t forks_ = 0;  // the count of forks when the threads were started
  void (*body_)(void*, int) = nullptr;
  void* context_ = nullptr;
  // Each is on a cache line of its own, since threads spin on them.
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<int> sleeping_{0};
  alignas(64) std::atomic<int> finished_{0};
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
  std::atomic<bool> stopping_{false};
  std::vector<pthread_t> team_;
};

// The numbers of the cores that this process may use, ascending.
std::vector<int> UsableCores();

}  // namespace hone

#endif  // HONE_RUNTIME_THREAD_TEAM_H_
