// Links object files into a shared object, in process.
#ifndef HONE_COMPILER_CODEGEN_LINK_H_
#define HONE_COMPILER_CODEGEN_LINK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::codegen {

// One call at a time in a process, which the caller sees to: lld has global state. The signal
// handlers it installs are taken away again. kInternal with lld's words for undefined symbols and
// the like. The bytes depend on the objects alone.
absl::StatusOr<std::string> LinkSharedObject(const std::vector<std::string>& objects);

// False after a failure that leaves lld's global state unusable: this process links no more.
bool CanLink();

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LINK_H_
