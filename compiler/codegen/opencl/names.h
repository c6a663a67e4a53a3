// Identifiers of a kernel: of its buffers, variables and temporaries.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_NAMES_H_
#define HONE_COMPILER_CODEGEN_OPENCL_NAMES_H_

#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"

namespace hone::codegen::opencl {

// An identifier that is as near to the word as C allows: what no identifier has becomes '_', and
// one that would mean something in OpenCL C gets one at its end.
std::string IdentifierOf(std::string_view word);

// Gives out identifiers, each once. Not thread-safe.
class Names {
 public:
  // IdentifierOf the word; with a number behind it where it is taken.
  std::string Fresh(std::string_view word);

 private:
  absl::flat_hash_set<std::string> taken_;
};

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_NAMES_H_
