// Takes connections on the daemon's Unix socket, and finds out who dials.
#ifndef HONE_TUNER_SERVICE_UNIX_LISTENER_H_
#define HONE_TUNER_SERVICE_UNIX_LISTENER_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tuner/service/accept_loop.h"

namespace hone::tuner {

// The process and user that dial, as the kernel says.
struct Peer {
  pid_t process = 0;
  uid_t user = 0;
};

// Whether the user is this process's own, or root.
bool IsOwnUser(uid_t peer);

// Thread-compatible.
class UnixListener {
 public:
  // Makes the socket (mode 0600); dialers wait until Serve. The path is one that PrepareSocket
  // (socket_folder.h) found free.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Listen(const std::string& path);
  // Stops, and removes the socket.
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  // From here on, gives every connection of an allowed user to `take`, with its peer, on a thread
  // of the listener; others are closed. `take` owns the descriptor, which is non-blocking.
  void Serve(std::function<void(int fd, const Peer& peer)> take,
             std::function<bool(uid_t peer)> is_allowed = IsOwnUser);
  // Takes no more connections. The destructor removes the socket.
  void Stop() { loop_->Stop(); }

 private:
  UnixListener(std::string path, std::unique_ptr<AcceptLoop> loop)
      : path_(std::move(path)), loop_(std::move(loop)) {}

  const std::string path_;
  const std::unique_ptr<AcceptLoop> loop_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_UNIX_LISTENER_H_
