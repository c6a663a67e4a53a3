// The CPUs that Hone knows and their features, under LLVM 19's names. Targets may use these names
// only, and a machine is given a CPU's name only if it has the features listed here.
#ifndef HONE_RUNTIME_CPUS_H_
#define HONE_RUNTIME_CPUS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// A CPU has the features of its base and those in `extra`. The views refer to a static table.
struct KnownCpu {
  std::string_view arch;   // "x86_64", "aarch64"
  std::string_view name;   // as LLVM knows it
  std::string_view base;   // another CPU of the architecture; "" for none
  std::string_view extra;  // features, separated by spaces

  std::vector<std::string> Features() const;  // sorted, without '+'
};

// `triple` is a target's triple, or its architecture alone.
std::optional<KnownCpu> FindCpu(std::string_view triple, std::string_view name);
std::vector<std::string> KnownCpus(std::string_view triple);      // sorted
std::vector<std::string> KnownFeatures(std::string_view triple);  // sorted, without '+'

// Whether `features` (sorted, without '+') include all that LLVM's instruction selection may use
// once it is told the name of this known CPU. Tile registers need not be among them: only
// intrinsics use those.
bool HasFeaturesOf(std::string_view triple, std::string_view name,
                   const std::vector<std::string>& features);

}  // namespace hone

#endif  // HONE_RUNTIME_CPUS_H_
