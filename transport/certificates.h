// X.509 certificates: made for a daemon, and checked by its clients.
#ifndef HONE_TRANSPORT_CERTIFICATES_H_
#define HONE_TRANSPORT_CERTIFICATES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone {

// Both in PEM. Whoever has the key is who the certificate says.
struct Identity {
  std::string key;
  std::string certificate;
};

// A daemon's own authority: a key on P-256, and a certificate that it signs itself. Certificates
// hold from an hour before `now_s` (seconds since 1970; clocks differ) for so many days.
absl::StatusOr<Identity> MakeAuthority(const std::string& name, int64_t now_s, int days);

// An identity that the authority signs: of a server, which is dialled by `names` (host names and IP
// addresses), or of a client whose common name is `names[0]`. `key`: one to go on with (PEM);
// empty: a new one. kInvalidArgument where something is no identity, or no name.
enum class CertificateUse { kServer, kClient };
absl::StatusOr<Identity> MakeIdentity(const Identity& authority,
                                      const std::vector<std::string>& names, CertificateUse use,
                                      int64_t now_s, int days, const std::string& key = "");

// SHA-256 of the first certificate in a text of PEM, or of the last one, which is the authority's
// in a chain, in hexadecimal digits.
absl::StatusOr<std::string> FingerprintOf(std::string_view pem);
absl::StatusOr<std::string> LastFingerprintOf(std::string_view pem);
// When its first certificate ends, in seconds since 1970.
absl::StatusOr<int64_t> EndOf(std::string_view pem);
// The subject's common name of its first certificate.
absl::StatusOr<std::string> CommonNameOf(std::string_view pem);
// Whether the key is that of the first certificate.
bool BelongTogether(const Identity& identity);

// OK where the chain (PEM, the server's own certificate first) holds the certificate with this
// fingerprint, leads to it, and every certificate on the way holds now and may be used so.
// kUnauthenticated says what is wrong. Names are not compared: decision 28.
absl::Status VerifyServerChain(std::string_view chain, std::string_view fingerprint, int64_t now_s);

}  // namespace hone

#endif  // HONE_TRANSPORT_CERTIFICATES_H_
