#include "tests/runtime/cuda/driver/block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <vector>

namespace {

constexpr size_t kStackBytes = size_t{256} << 10;

constexpr size_t kWarpThreads = 32;

enum class State { kRuns, kAtBarrier, kInWarp, kEnded };

struct Thread {
  ucontext_t context;
  void* stack = nullptr;
  State state = State::kRuns;
};

// Threads that wait for the others of their warp.
struct Warp {
  unsigned instruction = 0;
  size_t count = 0;
  void* own[kWarpThreads];
};

// Kept from block to block.
std::vector<Thread>& Threads() {
  static auto* const threads = new std::vector<Thread>();
  return *threads;
}

std::vector<Warp> g_warps;
bool g_is_apart = false;  // threads of a warp wait at different instructions
ucontext_t g_caller;
size_t g_now = 0;
const std::function<void(size_t)>* g_run = nullptr;

void Begin() {
  (*g_run)(g_now);
  Threads()[g_now].state = State::kEnded;
}

bool Prepare(size_t count) {
  // Contexts point into themselves, so they are made where they stay.
  if (Threads().size() < count) Threads().resize(count);
  for (size_t i = 0; i < count; ++i) {
    Thread& thread = Threads()[i];
    if (thread.stack == nullptr) {
      thread.stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (thread.stack == MAP_FAILED) return false;
    }
    thread.state = State::kRuns;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack;
    thread.context.uc_stack.ss_size = kStackBytes;
    thread.context.uc_link = &g_caller;
    makecontext(&thread.context, Begin, 0);
  }
  return true;
}

size_t CountIn(State state, size_t count) {
  const auto begin = Threads().begin();
  return static_cast<size_t>(
      std::count_if(begin, begin + static_cast<ptrdiff_t>(count),
                    [&](const Thread& thread) { return thread.state == state; }));
}

void WaitAs(State state) {
  Threads()[g_now].state = state;
  swapcontext(&Threads()[g_now].context, &g_caller);
}

}  // namespace

bool RunBlock(size_t count, const std::function<void(size_t)>& run) {
  if (!Prepare(count)) return false;
  g_run = &run;
  g_warps.assign((count + kWarpThreads - 1) / kWarpThreads, Warp());
  g_is_apart = false;
  for (bool forwards = true;; forwards = !forwards) {
    for (size_t i = 0; i < count; ++i) {
      g_now = forwards ? i : count - 1 - i;
      Thread& thread = Threads()[g_now];
      if (thread.state == State::kRuns) swapcontext(&g_caller, &thread.context);
    }
    if (g_is_apart) return false;
    if (CountIn(State::kRuns, count) > 0) continue;
    if (CountIn(State::kAtBarrier, count) < count) return CountIn(State::kEnded, count) == count;
    for (size_t i = 0; i < count; ++i) Threads()[i].state = State::kRuns;
  }
}

void MeetInBlock() { WaitAs(State::kAtBarrier); }

void MeetInWarp(unsigned instruction, void* own, void (*all)(void* const* own)) {
  Warp& warp = g_warps[g_now / kWarpThreads];
  if (warp.count > 0 && warp.instruction != instruction) {
    g_is_apart = true;
    WaitAs(State::kInWarp);
  }
  warp.instruction = instruction;
  warp.own[g_now % kWarpThreads] = own;
  if (++warp.count < kWarpThreads) {
    WaitAs(State::kInWarp);
    return;
  }
  all(warp.own);
  warp.count = 0;
  const size_t first = g_now / kWarpThreads * kWarpThreads;
  for (size_t i = first; i < first + kWarpThreads; ++i) Threads()[i].state = State::kRuns;
}
