#include "support/user_name.h"

#include <pwd.h>

#include <vector>

namespace hone {

std::string UserName(uid_t user) {
  constexpr size_t kEntryBytes = 1 << 14;
  passwd entry = {};
  passwd* found = nullptr;
  std::vector<char> buffer(kEntryBytes);
  getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? entry.pw_name : "uid:" + std::to_string(user);
}

}  // namespace hone
