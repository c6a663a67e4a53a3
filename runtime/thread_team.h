// A team of threads that run one function together (SPMD). A run of a model enters it once.
#ifndef HONE_RUNTIME_THREAD_TEAM_H_
#define HONE_RUNTIME_THREAD_TEAM_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace hone {

// No machine gains from more threads than this, and every machine can start this many. Targets and
// options have the same bound.
inline constexpr int kMaxThreads = 1024;

// The caller of Run is thread 0. Between runs the others spin for a while and then sleep. A team of
// one has no threads and uses no atomics. One Run at a time, from any thread. A child of fork(),
// which has none of its parent's threads, starts its own at its first Run.
class ThreadTeam {
 public:
  // With kPinned each thread, the caller of Run included, stays on a core of its own; these are the
  // last of the cores that the process may use. It is for measurements, where the caller does
  // nothing else.
  enum class Placement { kFree, kPinned };

  // If not all threads can be started, or more than kMaxThreads are asked for, this is a team of
  // one thread, and error() says why.
  explicit ThreadTeam(int threads, Placement placement = Placement::kFree);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return threads_; }
  // Why the team has one thread only; empty if nothing went wrong.
  const std::string& error() const { return error_; }

  // Calls body(context, t) on every thread t and returns when all are back.
  void Run(void (*body)(void* context, int thread), void* context);

  // Every thread calls this within Run. No thread goes on before all have arrived; what each wrote
  // before the barrier, all see after it.
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

// Cores this process may use.
std::vector<int> UsableCores();

}  // namespace hone

#endif  // HONE_RUNTIME_THREAD_TEAM_H_
