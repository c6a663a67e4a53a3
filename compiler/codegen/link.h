// Links object files into a shared object, in process.
#ifndef HONE_COMPILER_CODEGEN_LINK_H_
#define HONE_COMPILER_CODEGEN_LINK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::codegen {

// The caller makes sure that one call runs at a time in a process, because lld has global state.
// Signal handlers that lld installs are removed again. kInternal with lld's message, for instance
// for undefined symbols. The bytes depend on the objects alone.
absl::StatusOr<std::string> LinkSharedObject(const std::vector<std::string>& objects);

// False after a failure that leaves lld's global state unusable; this process then cannot link any
// more.
bool CanLink();

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LINK_H_
