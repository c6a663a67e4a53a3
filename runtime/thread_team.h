// Threads that run one function together (SPMD), entered once a run of a model.
#ifndef HONE_RUNTIME_THREAD_TEAM_H_
#define HONE_RUNTIME_THREAD_TEAM_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace hone {

// More than any machine gains from, and so many as any machine can start. Targets and options have
// the same bound.
inline constexpr int kMaxThreads = 1024;

// The caller of Run is thread 0; the others wait, spinning for a while and then asleep. A team of
// one has no threads and uses no atomics. One Run at a time, from any thread. A child of fork(),
// which has none of its parent's threads, starts its own at its first Run.
class ThreadTeam {
 public:
  // Pinned: each thread, the caller of Run included, stays on a core of its own, the last ones of
  // those the process may use. For measurements, where the caller has nothing else to do.
  enum class Placement { kFree, kPinned };

  // Where not all threads can be started (more than kMaxThreads never are) it is a team of one, and
  // error() says why.
  explicit ThreadTeam(int threads, Placement placement = Placement::kFree);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return threads_; }
  // Empty, or a sentence.
  const std::string& error() const { return error_; }

  // Calls body(context, t) on every thread t and returns when all are back.
  void Run(void (*body)(void* context, int thread), void* context);

  // Called by every thread within Run: none goes on before all have come; what each wrote before,
  // all see after.
  void Barrier();

 private:
  struct Start;  // what a thread gets to know
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
  uint32_t forks_ = 0;  // of this process's ancestors when the threads were started
  void (*body_)(void*, int) = nullptr;
  void* context_ = nullptr;
  // Apart, so that the flags spun on do not share a cache line.
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
