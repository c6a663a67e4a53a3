// The device of OpenCL that tests run models on.
#ifndef HONE_TESTS_COMPILER_DRIVER_OPENCL_HERE_H_
#define HONE_TESTS_COMPILER_DRIVER_OPENCL_HERE_H_

#include <optional>

#include "compiler/ir/target.h"

namespace hone::driver {

// A target that this machine's first device of OpenCL runs; nullopt where there is none. The device
// is asked in a child, so that children of this process may use it too.
std::optional<Target> OpenClHere();

}  // namespace hone::driver

#endif  // HONE_TESTS_COMPILER_DRIVER_OPENCL_HERE_H_
