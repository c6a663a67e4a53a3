// Connections to a daemon.
#ifndef HONE_TRANSPORT_DIAL_H_
#define HONE_TRANSPORT_DIAL_H_

#include <memory>

#include "absl/status/status.h"
#include "transport/server_address.h"

namespace grpc {
class Channel;
class Status;
}  // namespace grpc

namespace hone {

// The largest message of either side, in bytes: a job of some thousand kernels, with their texts.
// gRPC's own limit for what is received is 4 MiB.
inline constexpr int kMaxMessageBytes = 64 << 20;

// Either side pings a connection that was silent for kKeepaliveMs, and closes it if the other does
// not answer within kKeepaliveLimitMs.
inline constexpr int kKeepaliveMs = 20'000;
inline constexpr int kKeepaliveLimitMs = 10'000;

struct DialOptions {
  // How soon a lost connection is made again; 0: as gRPC does, later each time.
  int reconnect_ms = 0;
  // The client's own certificate and key (files of PEM); empty: the token says who it is.
  std::string certificate_file;
  std::string key_file;
};

// Thread-safe.
class DaemonConnection {
 public:
  // Connects with the first call. Over TCP the server has to prove that it is the one of the join
  // string before anything is said to it; then every call carries the token.
  explicit DaemonConnection(const ServerAddress& address, const DialOptions& options = {});
  ~DaemonConnection();
  DaemonConnection(const DaemonConnection&) = delete;
  DaemonConnection& operator=(const DaemonConnection&) = delete;

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // The outcome of a call: kUnauthenticated, with the reason, if another server than the expected
  // one answered; kUnavailable if none did; otherwise what the daemon said.
  absl::Status StatusOf(const grpc::Status& status) const;

 private:
  class Verifier;

  const std::string name_;
  std::shared_ptr<Verifier> verifier_;  // nullptr: over a Unix socket
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace hone

#endif  // HONE_TRANSPORT_DIAL_H_
