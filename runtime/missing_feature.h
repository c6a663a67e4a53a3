// Whether a processor has what a module was compiled for.
#ifndef HONE_RUNTIME_MISSING_FEATURE_H_
#define HONE_RUNTIME_MISSING_FEATURE_H_

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// The first feature in the target's text (-mattr=+avx2,...) that is not among `features`
// (HostFeatures); empty if there is none. A feature that this runtime does not look for (LooksFor),
// such as one that only a newer Hone knows, counts as present.
std::string MissingFeature(std::string_view target, const std::vector<std::string>& features);

}  // namespace hone

#endif  // HONE_RUNTIME_MISSING_FEATURE_H_
