// The listening sockets of a TCP port.
#ifndef HONE_TUNER_SERVICE_TCP_LISTENER_H_
#define HONE_TUNER_SERVICE_TCP_LISTENER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tuner/service/accept_loop.h"

namespace hone::tuner {

// Thread-compatible.
class TcpListener {
 public:
  // "HOST:PORT"; a host of several addresses is listened to at all of them, at one port; port 0:
  // one that is free. 0.0.0.0 and [::] are every address of this machine, of either family. Dialers
  // wait until Serve. kInvalidArgument for what is none; kUnavailable for one that cannot be had.
  static absl::StatusOr<std::unique_ptr<TcpListener>> Listen(const std::string& host_port);

  int port() const { return port_; }
  // As AcceptLoop's.
  void Serve(std::function<void(int fd)> take) { loop_->Serve(std::move(take)); }
  void Stop() { loop_->Stop(); }

 private:
  TcpListener(int port, std::unique_ptr<AcceptLoop> loop) : port_(port), loop_(std::move(loop)) {}

  const int port_;
  const std::unique_ptr<AcceptLoop> loop_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_TCP_LISTENER_H_
