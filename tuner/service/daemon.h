// A running honed: loop, dispatcher and services around one store, on one socket.
#ifndef HONE_TUNER_SERVICE_DAEMON_H_
#define HONE_TUNER_SERVICE_DAEMON_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "support/clock.h"
#include "tuner/builder.h"
#include "tuner/farm/dispatcher.h"
#include "tuner/job_limits.h"
#include "tuner/jobs/tuning_loop.h"
#include "tuner/lowerer.h"
#include "tuner/search.h"
#include "tuner/tls_options.h"
#include "tuning_db/store.h"

namespace hone::tuner {

struct DaemonOptions {
  std::string socket;  // path of the Unix socket; its folder must be this user's alone
  // Set for a private daemon (decision 0014): the process whose jobs it runs, for as long as it
  // lives. Others than this one and its children are refused. 0: a service for everybody who may
  // dial.
  pid_t client = 0;
  // Set: it serves a network as well, whose callers the tuning database knows.
  std::optional<TlsOptions> tls;
  // Where clients over the network dial it (HOST:PORT; empty: at this host's name), and what they
  // trust there.
  std::string advertised;
  std::string certificate;
  Quota quota;            // of each submitter over the network
  std::string audit_log;  // a file; empty: none
  std::string metrics;    // HOST:PORT to serve metrics at over HTTP; empty: nowhere
  TuningOptions tuning;
  DispatcherOptions farm;
};

// Raw pointers outlive the daemon.
struct DaemonParts {
  tuning_db::Store* store = nullptr;
  Lowerer* lowerer = nullptr;
  std::unique_ptr<Builder> builder;
  std::function<Search*(const std::string& name)> search;
  const Clock* clock = nullptr;
  // The store failed and nothing goes on; called once, from a thread of the daemon.
  std::function<void()> on_fatal;
  // Called so often at least, on a thread of the daemon, as long as the threads that run jobs and
  // the farm get round to it. 0: never.
  int64_t beat_interval_ns = 0;
  std::function<void()> beat;
};

// Thread-compatible. Once Start has returned, what was open is taken up and clients are served.
// Private jobs whose daemon did not end them are cancelled before anything else.
class Daemon {
 public:
  // kInvalidArgument for a socket folder that others may enter; kUnavailable when another daemon
  // serves the socket.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(DaemonOptions options, DaemonParts parts);
  // Stops leasing, lets results that are on their way settle, and closes every stream. A private
  // daemon cancels its jobs; everything else stays in the store for the next start.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // "unix:PATH".
  const std::string& address() const;
  // The TCP port that it serves; 0: none.
  int port() const;
  // The TCP port of its metrics; 0: none.
  int metrics_port() const;
  // Where others dial it: HOST:PORT as advertised, else this host's name and the port. Empty: it
  // serves no network.
  std::string network_address() const;

 private:
  struct Impl;
  explicit Daemon(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_DAEMON_H_
