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

// The largest message that either side may send, in bytes. It has room for a job of some thousand
// kernels with their texts; gRPC's own limit for received messages, 4 MiB, has not.
inline constexpr int kMaxMessageBytes = 64 << 20;

// Either side pings a connection that was silent for kKeepaliveMs, and closes it if the other does
// not answer within kKeepaliveLimitMs.
inline constexpr int kKeepaliveMs = 20'000;
inline constexpr int kKeepaliveLimitMs = 10'000;

struct DialOptions {
  // After how long a lost connection is made again; 0 leaves that to gRPC, which waits longer each
  // time.
  int reconnect_ms = 0;
  // PEM files with the client's own certificate and key. If they are empty, the client proves who
  // it is by its token.
  std::string certificate_file;
  std::string key_file;
};

// Thread-safe.
class DaemonConnection {
 public:
  // The connection is made at the first call. Over TCP the server must prove that it has the
  // certificate that the address names before anything is sent to it; then every call carries the
  // token, if there is one.
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
  std::shared_ptr<Verifier> verifier_;  // nullptr over a Unix socket
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace hone

#endif  // HONE_TRANSPORT_DIAL_H_
