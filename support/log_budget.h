// Limits how often one thing is logged. Whoever connects to a daemon can make it log a lot, and
// must not be able to fill its disk.
#ifndef HONE_SUPPORT_LOG_BUDGET_H_
#define HONE_SUPPORT_LOG_BUDGET_H_

#include <algorithm>
#include <cstdint>

namespace hone {

// Allows one message at most `most` times in each window of `window_ns`. A window begins with the
// first call after the window before it has ended. Not thread-safe.
class LogBudget {
 public:
  LogBudget(int most, int64_t window_ns) : most_(most), window_ns_(window_ns) {}

  // Whether the message may be logged now. If this call begins a window, *swallowed becomes the
  // number of calls in the window before it that returned false; otherwise 0.
  bool Spend(int64_t now_ns, int* swallowed) {
    *swallowed = 0;
    if (asked_ == 0 || now_ns - began_ns_ >= window_ns_) {
      *swallowed = std::max(0, asked_ - most_);
      began_ns_ = now_ns;
      asked_ = 0;
    }
    return ++asked_ <= most_;
  }

 private:
  const int most_;
  const int64_t window_ns_;
  int64_t began_ns_ = 0;
  int asked_ = 0;  // the calls since began_ns_
};

}  // namespace hone

#endif  // HONE_SUPPORT_LOG_BUDGET_H_
