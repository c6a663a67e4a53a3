// The worker's stream to its daemon.
#ifndef HONE_MEASURE_SERVER_STREAM_CLIENT_H_
#define HONE_MEASURE_SERVER_STREAM_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "measure_server/router.h"
#include "transport/server_address.h"

namespace hone::measure {

struct StreamOptions {
  int64_t first_backoff_ns = 100'000'000;
  int64_t longest_backoff_ns = 5'000'000'000;
  // How many streams, one after the other, may find the worker's name taken before the worker gives
  // up. A worker that was restarted may dial before the daemon has seen its predecessor's stream
  // end.
  int name_attempts = 5;
  // A daemon that has not welcomed the worker after this time counts as gone.
  int64_t welcome_limit_ns = 10'000'000'000;
  // How many streams may fail while draining before unacknowledged results are dropped.
  int drain_attempts = 5;
  // The worker's own certificate and key (PEM files); empty: its token identifies it.
  std::string certificate_file;
  std::string key_file;
  // Called about every second while streams are served or dialled. May be empty.
  std::function<void()> beat;
};

// Runs one stream after the other, and blocks. Returns OK when the worker is finished, or the
// daemon's status if it refuses the worker (kInvalidArgument, kPermissionDenied, kUnauthenticated,
// kFailedPrecondition, kAlreadyExists). Waits between streams, and longer each time that a stream
// fails at once.
absl::Status RunStreams(const ServerAddress& address, Router* router, const StreamOptions& options);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_STREAM_CLIENT_H_
