// Threads that run one function together (SPMD), entered once a run of a model.
#ifndef HONE_RUNTIME_THREAD_TEAM_H_
#define HONE_RUNTIME_THREAD_TEAM_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace hone {

// The caller of Run is thread 0; the others wait, spinning for a while and then asleep. A team of
// one has no threads and uses no atomics. One Run at a time, from any thread.
class ThreadTeam {
 public:
  // Pinned: each thread, the caller of Run included, stays on a core of its own, the last ones of
  // those the process may use. For measurements, where the caller has nothing else to do.
  enum class Placement { kFree, kPinned };

  explicit ThreadTeam(int threads, Placement placement = Placement::kFree);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return threads_; }

  // Calls body(context, t) on every thread t and returns when all are back.
  void Run(void (*body)(void* context, int thread), void* context);

  // Called by every thread within Run: none goes on before all have come; what each wrote before,
  // all see after.
  void Barrier();

 private:
  void Work(int thread);

  const int threads_;
  const Placement placement_;
  const int spins_before_yield_;
  void (*body_)(void*, int) = nullptr;
  void* context_ = nullptr;
  // Apart, so that the flags spun on do not share a cache line.
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<int> sleeping_{0};
  alignas(64) std::atomic<int> finished_{0};
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> team_;
};

// Cores this process may use.
std::vector<int> UsableCores();

}  // namespace hone

#endif  // HONE_RUNTIME_THREAD_TEAM_H_
