// Controls what the processor does with subnormal numbers. An operation on one can take a hundred
// times as long as others.
#ifndef HONE_RUNTIME_SUBNORMALS_H_
#define HONE_RUNTIME_SUBNORMALS_H_

#include <cstdint>

namespace hone {

// Sets how the calling thread treats subnormal operands and results while this object lives. The
// destructor, which must run in the same thread, restores the thread's own mode. Floating-point
// exception flags that were raised stay raised.
class SubnormalMode {
 public:
  SubnormalMode() : own_(Read()), current_(own_) {}
  ~SubnormalMode() {
    if (current_ != own_) Write((Read() & ~kFlushBits) | (own_ & kFlushBits));
  }
  SubnormalMode(const SubnormalMode&) = delete;
  SubnormalMode& operator=(const SubnormalMode&) = delete;

  // With `flush`, subnormal operands and results count as zero. Otherwise the mode is the one that
  // the thread had when this object was made.
  void Set(bool flush) {
    const uint64_t wanted = flush ? own_ | kFlushBits : own_;
    if (wanted == current_) return;
    Write((Read() & ~kFlushBits) | (wanted & kFlushBits));
    current_ = wanted;
  }

 private:
#if defined(__x86_64__)
  // MXCSR: FTZ (results) and DAZ (operands).
  static constexpr uint64_t kFlushBits = (uint64_t{1} << 15) | (uint64_t{1} << 6);
  static uint64_t Read() { return __builtin_ia32_stmxcsr(); }
  static void Write(uint64_t bits) { __builtin_ia32_ldmxcsr(static_cast<uint32_t>(bits)); }
#elif defined(__aarch64__)
  // FPCR.FZ covers both results and operands.
  static constexpr uint64_t kFlushBits = uint64_t{1} << 24;
  static uint64_t Read() {
    uint64_t bits = 0;
    asm volatile("mrs %0, fpcr" : "=r"(bits)::"memory");
    return bits;
  }
  static void Write(uint64_t bits) { asm volatile("msr fpcr, %0" ::"r"(bits) : "memory"); }
#else
  static constexpr uint64_t kFlushBits = 0;
  static uint64_t Read() { return 0; }
  static void Write(uint64_t) {}
#endif

  const uint64_t own_;
  uint64_t current_;
};

}  // namespace hone

#endif  // HONE_RUNTIME_SUBNORMALS_H_
