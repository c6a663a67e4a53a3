#include "compiler/frontend/allowance.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::frontend {

absl::Status Allowance::Take(int64_t bytes) {
  if (!Has(bytes)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} bytes of constants would be made, which is more than a model may ask for", bytes));
  }
  bytes_left_ -= bytes;
  return absl::OkStatus();
}

void Allowance::RefundTo(int64_t bytes_before) {
  const int64_t refund = std::min(bytes_before - bytes_left_, refunds_left_);
  bytes_left_ += refund;
  refunds_left_ -= refund;
}

}  // namespace hone::frontend
