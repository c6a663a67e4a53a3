// A running honed: tuning loop, dispatcher and services around one store, on one socket.
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
  // For a private daemon (decision 0014), the client: the process whose jobs the daemon runs, and
  // with which it ends. Connections of processes other than the client and its children are
  // refused. 0: not private; serves everybody who may dial.
  pid_t client = 0;
  // Set where the daemon serves a network as well. Its callers there are those in the tuning
  // database.
  std::optional<TlsOptions> tls;
  // Where clients over the network dial the daemon (HOST:PORT; empty: at this host's name), and the
  // certificate that they trust there.
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
  // Called on a thread of the daemon, maybe more than once, when the store has failed and nothing
  // goes on.
  std::function<void()> on_fatal;
  // `beat` is called on a thread of the daemon about once in this interval, as long as the threads
  // of jobs and of the farm keep working off their queues. 0: never.
  int64_t beat_interval_ns = 0;
  std::function<void()> beat;
};

// Thread-compatible. Once Start has returned, work that was open is taken up and clients are
// served. Before anything else, private jobs whose daemon did not end them are cancelled.
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
  // Where others dial the daemon: HOST:PORT as advertised, or this host's name and the port. Empty:
  // it serves no network.
  std::string network_address() const;

 private:
  struct Impl;
  explicit Daemon(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_DAEMON_H_
