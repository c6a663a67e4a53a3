// Links object files into a shared object, in process.
#ifndef HONE_COMPILER_CODEGEN_LINK_H_
#define HONE_COMPILER_CODEGEN_LINK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::codegen {

// Returns the bytes of the shared object, which depend on the objects alone. Puts the process's
// signal handlers back, which lld replaces while it links. kInternal with lld's message, for
// instance for undefined symbols. Not thread-safe: lld has global state, so the caller must let
// only one call run at a time in a process.
absl::StatusOr<std::string> LinkSharedObject(const std::vector<std::string>& objects);

// False after a failure that leaves lld's global state unusable; this process then cannot link any
// more.
bool CanLink();

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LINK_H_
