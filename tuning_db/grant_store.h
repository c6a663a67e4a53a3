// Who may call the daemon over a network: tokens and certificates, by name.
#ifndef HONE_TUNING_DB_GRANT_STORE_H_
#define HONE_TUNING_DB_GRANT_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::tuning_db {

// What lets a caller in. It is kept when it has ended or was revoked, for who asks what happened.
struct Grant {
  int64_t id = 0;
  std::string name;  // of the caller: the submitter of its jobs, the owner of its workers' names
  std::string role;  // "read", "submit", "work" or "admin"
  // SHA-256 of the token, in hexadecimal digits. Empty: the caller has a certificate with this
  // common name. The token itself is nowhere.
  std::string token_digest;
  int64_t made_at_ns = 0;     // since 1970, as all times here
  int64_t ends_at_ns = 0;     // 0: never
  int64_t revoked_at_ns = 0;  // 0: it was not

  bool Holds(int64_t now_ns) const {
    return revoked_at_ns == 0 && (ends_at_ns == 0 || now_ns < ends_at_ns);
  }

  friend bool operator==(const Grant&, const Grant&) = default;
};

// A part of Store, whose comment says what holds for every call.
class GrantStore {
 public:
  virtual ~GrantStore() = default;

  // Gives it an id, and stamps it with the store's clock. Where the name has a grant that holds:
  // kAlreadyExists for kRefuse, else that one ends within `overlap_ns`, in the same transaction.
  // kInvalidArgument for a name or role that is empty, and for a digest that is none.
  static constexpr int64_t kRefuse = -1;
  virtual absl::StatusOr<Grant> AddGrant(const Grant& grant, int64_t overlap_ns) = 0;
  // All that there were, by id.
  virtual absl::StatusOr<std::vector<Grant>> ListGrants() = 0;
  // All of the name that hold are revoked now, and returned. kNotFound where none holds.
  virtual absl::StatusOr<std::vector<Grant>> RevokeGrants(const std::string& name) = 0;
};

// ---- for the stores ----

// `known` is what there was. Those of them that have to change, as they are from now on, and last
// the new one, without an id.
absl::StatusOr<std::vector<Grant>> PlanGrant(const std::vector<Grant>& known, const Grant& grant,
                                             int64_t overlap_ns, int64_t now_ns);
// Those that are revoked now. kNotFound where none of the name holds.
absl::StatusOr<std::vector<Grant>> PlanRevocation(const std::vector<Grant>& known,
                                                  const std::string& name, int64_t now_ns);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_GRANT_STORE_H_
