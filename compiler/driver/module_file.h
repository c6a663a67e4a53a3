// The file of a compiled module: the shared object, then its parameters and the trailer that finds
// them.
#ifndef HONE_COMPILER_DRIVER_MODULE_FILE_H_
#define HONE_COMPILER_DRIVER_MODULE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/driver/parameters.h"

namespace hone::driver {

// Whole or, on any error, not at all: written beside `path` and renamed.
absl::Status WriteModuleFile(const std::string& path, const std::string& shared_object,
                             const ParameterSection& parameters);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_MODULE_FILE_H_
