#include "tests/runtime/cuda/driver/block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <vector>

namespace {

constexpr size_t kStackBytes = size_t{256} << 10;

constexpr size_t kWarpThreads = 32;
constexpr size_t kMostThreads = 128;  // of a group

enum class State { kRuns, kAtBarrier, kInGroup, kEnded };

struct Thread {
  ucontext_t context;
  void* stack = nullptr;
  State state = State::kRuns;
};

// Threads that wait for the others of their warp or warpgroup.
struct Group {
  unsigned instruction = 0;
  size_t count = 0;
  void* own[kMostThreads];
};

// Kept from block to block.
std::vector<Thread>& Threads() {
  static auto* const threads = new std::vector<Thread>();
  return *threads;
}

std::vector<Group> g_groups;  // each by the first warp that it has
bool g_is_apart = false;      // threads of a group wait at different instructions
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
  g_groups.assign((count + kWarpThreads - 1) / kWarpThreads, Group());
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

void MeetInGroup(unsigned threads, unsigned instruction, void* own, void (*all)(void* const* own)) {
  const size_t first = g_now / threads * threads;
  Group& group = g_groups[first / kWarpThreads];
  if (group.count > 0 && group.instruction != instruction) {
    g_is_apart = true;
    WaitAs(State::kInGroup);
  }
  group.instruction = instruction;
  group.own[g_now - first] = own;
  if (++group.count < threads) {
    WaitAs(State::kInGroup);
    return;
  }
  all(group.own);
  group.count = 0;
  for (size_t i = first; i < first + threads; ++i) Threads()[i].state = State::kRuns;
}
