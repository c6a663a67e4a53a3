// Makes X.509 certificates for a daemon and its clients, and checks those of a daemon.
#ifndef HONE_TRANSPORT_CERTIFICATES_H_
#define HONE_TRANSPORT_CERTIFICATES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone {

// A private key and its certificate, both in PEM. Whoever has the key can prove to be the one whom
// the certificate names.
struct Identity {
  std::string key;
  std::string certificate;
};

// Makes a certificate authority for a daemon: a key on the curve P-256 and a self-signed
// certificate with this common name. It is valid for `days` days from `now_s`, in seconds since the
// Unix epoch, and for the hour before, since clocks differ.
absl::StatusOr<Identity> MakeAuthority(const std::string& name, int64_t now_s, int days);

// Makes an identity whose certificate the authority signs, valid as long as one of MakeAuthority.
// It is for a server that clients dial by any of `names` (host names and IP addresses), or for a
// client whose common name is `names[0]`. `key` is the private key to use, in PEM; empty makes a
// new one. kInvalidArgument if the authority or the key cannot be read, or if `names` is empty or
// has an entry that a server cannot be dialled by.
enum class CertificateUse { kServer, kClient };
absl::StatusOr<Identity> MakeIdentity(const Identity& authority,
                                      const std::vector<std::string>& names, CertificateUse use,
                                      int64_t now_s, int days, const std::string& key = "");

// SHA-256, in hexadecimal digits, of the first certificate in a PEM text; or of the last one, which
// is the authority's if the text is a chain.
absl::StatusOr<std::string> FingerprintOf(std::string_view pem);
absl::StatusOr<std::string> LastFingerprintOf(std::string_view pem);
// When the first certificate in the text expires, in seconds since the Unix epoch.
absl::StatusOr<int64_t> EndOf(std::string_view pem);
// The common name of the subject of the first certificate in the text.
absl::StatusOr<std::string> CommonNameOf(std::string_view pem);
// Whether the identity's key is that of the first certificate in its text.
bool BelongTogether(const Identity& identity);

// Checks the chain that a server has shown, in PEM with the server's own certificate first. OK if
// the chain has the certificate with this fingerprint, leads from the server's certificate to it,
// and every certificate on the way is valid now and may be used for a server. Otherwise
// kUnauthenticated, and the message says what is wrong. Names are not compared (decision 28).
absl::Status VerifyServerChain(std::string_view chain, std::string_view fingerprint, int64_t now_s);

}  // namespace hone

#endif  // HONE_TRANSPORT_CERTIFICATES_H_
