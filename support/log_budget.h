// How often one thing may be logged: who dials a daemon makes it say much, and must not fill a
// disk.
#ifndef HONE_SUPPORT_LOG_BUDGET_H_
#define HONE_SUPPORT_LOG_BUDGET_H_

#include <algorithm>
#include <cstdint>

namespace hone {

// So many times in a window, which begins with the first of them. Not thread-safe.
class LogBudget {
 public:
  LogBudget(int most, int64_t window_ns) : most_(most), window_ns_(window_ns) {}

  // Whether it may be said once more. *swallowed: how often it could not be since it was said last,
  // where this begins a window; else 0.
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
  int asked_ = 0;  // since then
};

}  // namespace hone

#endif  // HONE_SUPPORT_LOG_BUDGET_H_
