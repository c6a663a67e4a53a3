// The cpus and features that targets may name.
#ifndef HONE_COMPILER_IR_CPUS_H_
#define HONE_COMPILER_IR_CPUS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::ir {

// A cpu has the features of its base level and its own.
struct Cpu {
  std::string_view arch;   // "x86_64", "aarch64"
  std::string_view name;   // as LLVM knows it
  std::string_view base;   // another cpu of the architecture; "" for none
  std::string_view extra;  // features, separated by spaces

  std::vector<std::string> Features() const;  // sorted, each with its '+'
};

std::optional<Cpu> FindCpu(std::string_view triple, std::string_view name);
std::vector<std::string> KnownCpus(std::string_view triple);  // sorted

std::vector<std::string> KnownFeatures(std::string_view triple);  // sorted, without their signs

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_CPUS_H_
