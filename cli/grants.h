// Manages grants, which say who may call a daemon: through the daemon, or in the database where no
// daemon runs.
#ifndef HONE_CLI_GRANTS_H_
#define HONE_CLI_GRANTS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hone/v1/auth.pb.h"

namespace hone::cli {

// Errors are those of AuthService. Not thread-safe.
class Grants {
 public:
  virtual ~Grants() = default;
  virtual absl::StatusOr<v1::AddGrantResponse> Add(const v1::AddGrantRequest& request) = 0;
  virtual absl::StatusOr<v1::ListGrantsResponse> List() = 0;
  virtual absl::Status Revoke(const std::string& name) = 0;
};

struct GrantsPlace {
  std::string server;    // as ReadServerAddress takes it; empty: none is named
  std::string database;  // a path or address; empty: the default one
};

// Opens the grants at the named daemon; else at the daemon that holds the database; else in the
// database.
absl::StatusOr<std::unique_ptr<Grants>> OpenGrants(const GrantsPlace& place);

}  // namespace hone::cli

#endif  // HONE_CLI_GRANTS_H_
