#include "tests/runtime/cuda/driver/block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <vector>

namespace {

constexpr size_t kStackBytes = size_t{256} << 10;

struct Thread {
  ucontext_t context;
  void* stack = nullptr;
  bool has_ended = false;
};

// Kept from block to block.
std::vector<Thread>& Threads() {
  static auto* const threads = new std::vector<Thread>();
  return *threads;
}

ucontext_t g_caller;
size_t g_now = 0;
const std::function<void(size_t)>* g_run = nullptr;

void Begin() {
  (*g_run)(g_now);
  Threads()[g_now].has_ended = true;
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
    thread.has_ended = false;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack;
    thread.context.uc_stack.ss_size = kStackBytes;
    thread.context.uc_link = &g_caller;
    makecontext(&thread.context, Begin, 0);
  }
  return true;
}

}  // namespace

bool RunBlock(size_t count, const std::function<void(size_t)>& run) {
  if (!Prepare(count)) return false;
  g_run = &run;
  for (bool forwards = true;; forwards = !forwards) {
    size_t ended = 0;
    for (size_t i = 0; i < count; ++i) {
      g_now = forwards ? i : count - 1 - i;
      swapcontext(&g_caller, &Threads()[g_now].context);
      ended += Threads()[g_now].has_ended ? 1 : 0;
    }
    if (ended > 0) return ended == count;
  }
}

void MeetInBlock() { swapcontext(&Threads()[g_now].context, &g_caller); }
