// The rules behind CanMeasure. Device and target are both of the rule's kind.
#ifndef HONE_RUNTIME_DEVICE_MATCH_RULES_H_
#define HONE_RUNTIME_DEVICE_MATCH_RULES_H_

#include <initializer_list>
#include <string_view>

#include "runtime/device_match/device_match.h"

namespace hone {

// CPU: the device is the same machine and has at least as many cores as the target has threads.
bool CpuCanMeasure(const OfferedDevice& device, std::string_view target);
// CUDA: the device has the same compute capability, and no fact that both texts state differs
// (FactsAgree).
bool CudaCanMeasure(const OfferedDevice& device, std::string_view target);
// OpenCL: the device is of the same family, its work groups may have at least as many work items
// and as much local memory as those of the target, and no fact that both texts state differs.
bool OpenClCanMeasure(const OfferedDevice& device, std::string_view target);

// Whether each of these flags has the same value in both texts or is missing from one of them,
// since an unknown fact rules nothing out.
bool FactsAgree(std::string_view device, std::string_view target,
                std::initializer_list<std::string_view> flags);

}  // namespace hone

#endif  // HONE_RUNTIME_DEVICE_MATCH_RULES_H_
