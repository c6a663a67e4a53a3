// A kernel's buffer table, as the process that has the kernel sends it to the one that checks the
// outputs without loading the kernel.
#ifndef HONE_MEASURE_SERVER_KERNEL_DESCRIPTION_H_
#define HONE_MEASURE_SERVER_KERNEL_DESCRIPTION_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/module_abi.h"

namespace hone::measure {

class KernelDescription {
 public:
  static std::string Encode(const hone_kernel& kernel);
  // nullopt if Encode cannot have made the bytes from a checked table.
  static std::optional<KernelDescription> Decode(std::string_view bytes);

  const std::vector<hone_buffer>& buffers() const { return buffers_; }
  double error_bound() const { return error_bound_; }

 private:
  bool IsSound() const;

  double error_bound_ = 0;
  std::vector<hone_buffer> buffers_;
  // What the buffers point to. Elements of a deque keep their addresses.
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> shapes_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_KERNEL_DESCRIPTION_H_
