// The cpus that Hone knows, with their features, as LLVM 19 names them: what targets may say, and
// what has to be there before a machine gets a cpu's name.
#ifndef HONE_RUNTIME_CPUS_H_
#define HONE_RUNTIME_CPUS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// A cpu has the features of its base and its own. It refers to a table that stays.
struct KnownCpu {
  std::string_view arch;   // "x86_64", "aarch64"
  std::string_view name;   // as LLVM knows it
  std::string_view base;   // another cpu of the architecture; "" for none
  std::string_view extra;  // features, separated by spaces

  std::vector<std::string> Features() const;  // sorted, without '+'
};

// `triple`: that of a target, or its architecture alone.
std::optional<KnownCpu> FindCpu(std::string_view triple, std::string_view name);
std::vector<std::string> KnownCpus(std::string_view triple);      // sorted
std::vector<std::string> KnownFeatures(std::string_view triple);  // sorted, without '+'

// Whether among features, which are sorted and without '+', are all that instruction selection may
// use unasked when it hears the name, of a known cpu. It uses no tiles so: they come by intrinsics
// only.
bool HasFeaturesOf(std::string_view triple, std::string_view name,
                   const std::vector<std::string>& features);

}  // namespace hone

#endif  // HONE_RUNTIME_CPUS_H_
