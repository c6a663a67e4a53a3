// This machine.
#ifndef HONE_SUPPORT_HOST_NAME_H_
#define HONE_SUPPORT_HOST_NAME_H_

#include <string>

namespace hone {

// As the system has it; containers and machines may share one.
std::string HostName();

}  // namespace hone

#endif  // HONE_SUPPORT_HOST_NAME_H_
