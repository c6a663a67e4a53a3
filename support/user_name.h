// The names of this machine's users.
#ifndef HONE_SUPPORT_USER_NAME_H_
#define HONE_SUPPORT_USER_NAME_H_

#include <sys/types.h>

#include <string>

namespace hone {

// The user's name, or "uid:N" if the system knows no name.
std::string UserName(uid_t user);

}  // namespace hone

#endif  // HONE_SUPPORT_USER_NAME_H_
