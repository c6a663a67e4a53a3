// Roles of callers, and which role each method of the daemon's services needs.
#ifndef HONE_TUNER_ROLE_H_
#define HONE_TUNER_ROLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hone::tuner {

enum class Role {
  kRead,    // sees jobs, workers and the log
  kSubmit,  // reads, submits jobs, and steers its own
  kWork,    // measures; sees nothing else
  kAdmin,   // does everything
};

std::string_view Name(Role role);
std::optional<Role> RoleOf(std::string_view name);

// The least role that may call the method ("/hone.v1.TuningService/SubmitJob"); kRead also for
// methods that every role may call; nullopt for a method without a role, which only kAdmin may
// call.
std::optional<Role> RoleFor(std::string_view method);

bool MayCall(Role role, std::string_view method);

// Says why the caller may not call the method: "has the role read, which may not cancel jobs: that
// needs the role submit or admin".
std::string WhatIsDenied(Role role, std::string_view method);

// Who made a call.
struct Caller {
  std::string name;  // of the user or the token: the submitter of its jobs
  // Names of workers are bound to this identity: "uid:1000", "grant:alice".
  std::string identity;
  Role role = Role::kAdmin;
  int64_t ends_at_ns = 0;  // when its grant ends, since 1970; 0: never

  // Whether it may steer what `submitter` asked for.
  bool MaySteer(const std::string& submitter) const {
    return role == Role::kAdmin || (role == Role::kSubmit && submitter == name);
  }
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_ROLE_H_
