// Bytes of constants that an import may still make beyond what the file holds, so that a small file
// cannot ask for a machine's memory or time.
#ifndef HONE_COMPILER_FRONTEND_ALLOWANCE_H_
#define HONE_COMPILER_FRONTEND_ALLOWANCE_H_

#include <cstdint>

#include "absl/status/status.h"

namespace hone::frontend {

class Allowance {
 public:
  explicit Allowance(int64_t bytes) : bytes_left_(bytes), refunds_left_(bytes) {}

  // kInvalidArgument where less is left, which takes nothing.
  absl::Status Take(int64_t bytes);
  bool Has(int64_t bytes) const { return bytes >= 0 && bytes <= bytes_left_; }

  int64_t bytes_left() const { return bytes_left_; }
  // After a try whose result is dropped: as many bytes are left as before it. Refunds add up to the
  // whole allowance at most, for tries take time whatever becomes of them.
  void RefundTo(int64_t bytes_before);

 private:
  int64_t bytes_left_;
  int64_t refunds_left_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ALLOWANCE_H_
