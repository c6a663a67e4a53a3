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

// PEM files of mode 0600 in one folder of mode 0700. authority.key and authority.crt belong to the
// daemon's own certificate authority, which clients trust. server.key and server.crt belong to the
// server; after the server's certificate, server.crt has the authority's. A running daemon needs
// the server's files only: authority.key may be kept elsewhere, where certificates are then
// renewed.
class ServerIdentity {
 public:
  static constexpr int kAuthorityDays = 3650;
  static constexpr int kServerDays = 365;

  explicit ServerIdentity(std::string folder) : folder_(std::move(folder)) {}

  // Makes all four files. `names` are the host names and addresses at which clients dial the
  // server, at least one. kFailedPrecondition where the folder has an identity already: clients
  // that trust that one would not trust a new one. A crash in the middle leaves no server.crt, and
  // the next call begins anew.
  absl::Status Make(const std::vector<std::string>& names, int64_t now_s) const;
  // Makes a new server certificate with the same key and authority; a running daemon takes it up.
  absl::Status Renew(const std::vector<std::string>& names, int64_t now_s) const;

  // What clients pin: the authority's SHA-256, as the server shows it. kNotFound: no identity.
  absl::StatusOr<std::string> Fingerprint() const;
  // When the server's certificate ends, in seconds since 1970.
  absl::StatusOr<int64_t> End() const;
  // The options to serve at `listen` with this identity.
  TlsOptions OptionsFor(const std::string& listen) const;

 private:
  std::string PathOf(const char* name) const { return folder_ + "/" + name; }

  const std::string folder_;
};

// The identity's folder where no other is named: $XDG_DATA_HOME/hone/tls, or
// ~/.local/share/hone/tls.
std::string DefaultIdentityFolder();

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVER_IDENTITY_H_
