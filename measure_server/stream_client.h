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
  // Streams that find the worker's name taken, until it is given up. A worker that was started
  // again may be faster than the end of its predecessor's stream.
  int name_attempts = 5;
  // A daemon that does not welcome the worker within this is taken for gone.
  int64_t welcome_limit_ns = 10'000'000'000;
  // Streams that may fail while draining, before unacknowledged results are given up.
  int drain_attempts = 5;
  // The worker's own certificate and key (files of PEM); empty: its token says who it is.
  std::string certificate_file;
  std::string key_file;
  // Called every second or so, as long as streams are served or dialled. May be empty.
  std::function<void()> beat;
};

// Holds one stream after the other until the worker is finished (OK), or the daemon will not have
// it (its status: PermissionDenied, Unauthenticated, FailedPrecondition, AlreadyExists). Between
// streams it waits, longer each time one fails at once. Blocks.
absl::Status RunStreams(const ServerAddress& address, Router* router, const StreamOptions& options);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_STREAM_CLIENT_H_
