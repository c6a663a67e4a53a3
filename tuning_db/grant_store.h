// Who may call the daemon over a network, by token or by certificate.
#ifndef HONE_TUNING_DB_GRANT_STORE_H_
#define HONE_TUNING_DB_GRANT_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::tuning_db {

// What lets one caller in. Ended and revoked grants are kept, so that one can see later what
// happened.
struct Grant {
  int64_t id = 0;
  std::string name;  // of the caller: the submitter of its jobs, the owner of its workers' names
  std::string role;  // "read", "submit", "work" or "admin"
  // SHA-256 of the token, in hexadecimal digits. Empty: the caller has a certificate whose common
  // name is `name`. The token itself is not stored.
  std::string token_digest;
  int64_t made_at_ns = 0;     // since 1970, as all times here
  int64_t ends_at_ns = 0;     // 0: never
  int64_t revoked_at_ns = 0;  // 0: not revoked

  bool Holds(int64_t now_ns) const {
    return revoked_at_ns == 0 && (ends_at_ns == 0 || now_ns < ends_at_ns);
  }

  friend bool operator==(const Grant&, const Grant&) = default;
};

// A part of Store; its comment (store.h) says what holds for every call.
class GrantStore {
 public:
  virtual ~GrantStore() = default;

  // Adds the grant, with a new id and with made_at_ns by the store's clock. If the name already has
  // a grant that holds, `overlap_ns` == kRefuse gives kAlreadyExists; otherwise that grant ends no
  // later than `overlap_ns` from now, in the same transaction. kInvalidArgument if the name or role
  // is empty, or the digest malformed.
  static constexpr int64_t kRefuse = -1;
  virtual absl::StatusOr<Grant> AddGrant(const Grant& grant, int64_t overlap_ns) = 0;
  // All grants that were ever added, by id.
  virtual absl::StatusOr<std::vector<Grant>> ListGrants() = 0;
  // Revokes all grants of the name that hold, and returns them. kNotFound if none holds.
  virtual absl::StatusOr<std::vector<Grant>> RevokeGrants(const std::string& name) = 0;
};

// ---- for the stores ----

// `known` is every stored grant. Returns those that must change, as they are to be from now on, and
// last the new one, without an id. Errors are those of AddGrant.
absl::StatusOr<std::vector<Grant>> PlanGrant(const std::vector<Grant>& known, const Grant& grant,
                                             int64_t overlap_ns, int64_t now_ns);
// Returns the grants of the name that hold, as revoked now. kNotFound if none holds.
absl::StatusOr<std::vector<Grant>> PlanRevocation(const std::vector<Grant>& known,
                                                  const std::string& name, int64_t now_ns);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_GRANT_STORE_H_
