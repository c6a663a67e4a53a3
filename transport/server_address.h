// The address of a daemon, with what its clients need to trust it and to be let in.
#ifndef HONE_TRANSPORT_SERVER_ADDRESS_H_
#define HONE_TRANSPORT_SERVER_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone {

// Either a Unix socket, or a host and port with a certificate and a token.
struct ServerAddress {
  std::string socket;       // a path; empty: over TCP
  std::string host_port;    // "HOST:PORT", "[::1]:PORT"
  std::string certificate;  // SHA-256 of the certificate to trust, in hexadecimal digits
  std::string token;        // a secret; empty: the client has a certificate of its own

  // For sentences and logs: "unix:PATH" or "HOST:PORT", without a secret.
  std::string Name() const;

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// "unix:PATH", "/PATH", or a join string. kInvalidArgument for anything else; over a network the
// daemon speaks TLS only, so a bare HOST:PORT is refused.
absl::StatusOr<ServerAddress> ParseServerAddress(const std::string& text);

// The same, but "@FILE" stands for the text in that file: a join string is a secret, and all users
// of a machine see command lines. kPermissionDenied if other users may read the file.
absl::StatusOr<ServerAddress> ReadServerAddress(const std::string& text);

// The join string of an address over TCP: "hone://HOST:PORT?certificate=SHA256&token=TOKEN". It has
// no token if the address has none.
std::string JoinString(const ServerAddress& address);

}  // namespace hone

#endif  // HONE_TRANSPORT_SERVER_ADDRESS_H_
