// The rules of CanMeasure. Device and target are of the rule's kind.
#ifndef HONE_RUNTIME_DEVICE_MATCH_RULES_H_
#define HONE_RUNTIME_DEVICE_MATCH_RULES_H_

#include <initializer_list>
#include <string_view>

#include "runtime/device_match/device_match.h"

namespace hone {

// The same machine, and as many cores as the target has threads.
bool CpuCanMeasure(const OfferedDevice& device, std::string_view target);
// The same compute capability, of the same cards.
bool CudaCanMeasure(const OfferedDevice& device, std::string_view target);
// The same family, and as much for a work group as the target has.
bool OpenClCanMeasure(const OfferedDevice& device, std::string_view target);

// Whether each of these flags has the same value in both texts, or is missing in one: a fact that
// is not known speaks against nothing.
bool FactsAgree(std::string_view device, std::string_view target,
                std::initializer_list<std::string_view> flags);

}  // namespace hone

#endif  // HONE_RUNTIME_DEVICE_MATCH_RULES_H_
