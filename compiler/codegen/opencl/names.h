// Makes identifiers for the buffers, variables and temporaries of a kernel.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_NAMES_H_
#define HONE_COMPILER_CODEGEN_OPENCL_NAMES_H_

#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"

namespace hone::codegen::opencl {

// The word as an identifier: characters that identifiers cannot have become '_', and '_' is
// appended to a word that is reserved in OpenCL C.
std::string IdentifierOf(std::string_view word);

// Hands out identifiers, each only once. Not thread-safe.
class Names {
 public:
  // Returns IdentifierOf(word), with a number appended if that is taken.
  std::string Fresh(std::string_view word);

 private:
  absl::flat_hash_set<std::string> taken_;
};

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_NAMES_H_
