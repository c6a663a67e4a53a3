// Limits how many bytes of constants an import may make beyond what the file holds, so that a small
// file cannot ask for all of a machine's memory or time.
#ifndef HONE_COMPILER_FRONTEND_ALLOWANCE_H_
#define HONE_COMPILER_FRONTEND_ALLOWANCE_H_

#include <cstdint>

#include "absl/status/status.h"

namespace hone::frontend {

class Allowance {
 public:
  explicit Allowance(int64_t bytes) : bytes_left_(bytes), refunds_left_(bytes) {}

  // kInvalidArgument if `bytes` is negative or more than is left; then nothing is taken.
  absl::Status Take(int64_t bytes);
  bool Has(int64_t bytes) const { return bytes >= 0 && bytes <= bytes_left_; }

  int64_t bytes_left() const { return bytes_left_; }
  // Gives back what an attempt has taken whose result is dropped; `bytes_before` were left before
  // it. All refunds together are at most the whole allowance, for an attempt that fails takes time,
  // too.
  void RefundTo(int64_t bytes_before);

 private:
  int64_t bytes_left_;
  int64_t refunds_left_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ALLOWANCE_H_
