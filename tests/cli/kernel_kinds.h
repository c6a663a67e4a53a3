// Kinds of kernels that `hone tune` must bring to an end: models of one kernel each, or of few.
#ifndef HONE_TESTS_CLI_KERNEL_KINDS_H_
#define HONE_TESTS_CLI_KERNEL_KINDS_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace hone::cli {

struct KernelKind {
  const char* name;
  // A function in the text form of workloads; parameters marked `const` become constants.
  const char* function;
};
void PrintTo(const KernelKind& kind, std::ostream* out);

// Every template and each of its strategies; odd channels, one to three axes, groups, transposed
// ones, bytes, 16-bit and 64-bit floats, integers.
const std::vector<KernelKind>& KernelKinds();

// The graph text of a model that is this function, its constants from a fixed seed.
std::string ModelOf(const KernelKind& kind);

}  // namespace hone::cli

#endif  // HONE_TESTS_CLI_KERNEL_KINDS_H_
