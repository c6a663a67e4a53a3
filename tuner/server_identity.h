// The folder with a daemon's keys and certificates, which `honed init` makes.
#ifndef HONE_TUNER_SERVER_IDENTITY_H_
#define HONE_TUNER_SERVER_IDENTITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuner/tls_options.h"

namespace hone::tuner {

// Files of PEM in one folder of mode 0700, each 0600: authority.key and authority.crt, of the
// daemon's own authority, which clients trust; server.key and server.crt, of the server, whose
// certificate is followed by the authority's. A service needs server.* only: who keeps
// authority.key elsewhere can renew from there.
class ServerIdentity {
 public:
  static constexpr int kAuthorityDays = 3650;
  static constexpr int kServerDays = 365;

  explicit ServerIdentity(std::string folder) : folder_(std::move(folder)) {}

  // Makes all of it. `names` are the host names and addresses that the server is dialled by, at
  // least one. kFailedPrecondition where there is an identity: nobody who trusts it would come
  // back. A crash in the middle leaves no server.crt, and the next call begins anew.
  absl::Status Make(const std::vector<std::string>& names, int64_t now_s) const;
  // A new server certificate of the same key and authority; it is taken up by a daemon that runs.
  absl::Status Renew(const std::vector<std::string>& names, int64_t now_s) const;

  // What clients pin: the authority's SHA-256, as the server shows it. kNotFound: no identity.
  absl::StatusOr<std::string> Fingerprint() const;
  // When the server's certificate ends, in seconds since 1970.
  absl::StatusOr<int64_t> End() const;
  // To serve at `listen` with it.
  TlsOptions OptionsFor(const std::string& listen) const;

 private:
  std::string PathOf(const char* name) const { return folder_ + "/" + name; }

  const std::string folder_;
};

// Where it is where no other place is named: $XDG_DATA_HOME/hone/tls, or ~/.local/share/hone/tls.
std::string DefaultIdentityFolder();

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVER_IDENTITY_H_
