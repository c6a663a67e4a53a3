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
  // Listens at "HOST:PORT". A host with several addresses is listened to at all of them, at one
  // port; port 0 is any free one. 0.0.0.0 and [::] both stand for every address of this machine, of
  // either family. Dialers wait until Serve. kInvalidArgument for a text that is not an address;
  // kUnavailable for an address that cannot be had.
  static absl::StatusOr<std::unique_ptr<TcpListener>> Listen(const std::string& host_port);

  int port() const { return port_; }
  // Serve and Stop are those of AcceptLoop.
  void Serve(std::function<void(int fd)> take) { loop_->Serve(std::move(take)); }
  void Stop() { loop_->Stop(); }

 private:
  TcpListener(int port, std::unique_ptr<AcceptLoop> loop) : port_(port), loop_(std::move(loop)) {}

  const int port_;
  const std::unique_ptr<AcceptLoop> loop_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_TCP_LISTENER_H_
