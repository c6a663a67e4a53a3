// The name of this machine.
#ifndef HONE_SUPPORT_HOST_NAME_H_
#define HONE_SUPPORT_HOST_NAME_H_

#include <string>

namespace hone {

// The name that the system gives this machine. Several machines or containers may have the same
// one.
std::string HostName();

}  // namespace hone

#endif  // HONE_SUPPORT_HOST_NAME_H_
