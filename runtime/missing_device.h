// Says that this machine has no device of that number.
#ifndef HONE_RUNTIME_MISSING_DEVICE_H_
#define HONE_RUNTIME_MISSING_DEVICE_H_

#include <cstddef>
#include <string>

namespace hone {

// For the device `name`, such as "cuda:1", on a machine that has `count` devices of `api`, such as
// "CUDA".
std::string MissingDevice(const std::string& name, size_t count, const std::string& api);

}  // namespace hone

#endif  // HONE_RUNTIME_MISSING_DEVICE_H_
