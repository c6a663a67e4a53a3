// What is between workers and the daemon: delays, streams that break, black holes.
//
// A stream keeps its messages in order, or ends: what arrives of a broken one is what was sent up
// to some point. Between streams nothing is in order: what was sent on a broken one may arrive
// after the Hello of the one that took its place, and so may the news of its end.
#ifndef HONE_TESTS_FARM_SIMULATOR_NETWORK_H_
#define HONE_TESTS_FARM_SIMULATOR_NETWORK_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hone/v1/farm.pb.h"
#include "tests/farm_simulator/event_queue.h"
#include "tests/farm_simulator/history.h"
#include "tests/farm_simulator/scenario.h"
#include "tuner/farm/dispatcher.h"
#include "tuner/farm/worker_link.h"

namespace hone::sim {

// What the simulated daemon gives a measurement beyond its runs. Protocol 2 does not tell workers.
inline constexpr int64_t kLeaseSlackNs = 4 * kSecond;

// The worker's end of a stream.
class WorkerPort {
 public:
  virtual ~WorkerPort() = default;
  virtual void OnMessage(const hone::v1::WorkResponse& message) = 0;
  // The last thing that is heard of the stream.
  virtual void OnEnd(const absl::Status& status) = 0;
};

struct NetworkWeather {
  int64_t least_delay_ns = 100'000;
  int64_t most_delay_ns = 20 * kMillisecond;
  double break_share = 0;  // of the messages: the stream breaks behind them
  // The share of the streams that break on which what was sent arrives seconds later.
  double straggle_share = 0;
  double repeat_share = 0;  // of what workers say and may say twice: it comes twice
  // Bugs that tests plant, to see that the checker finds them (checked at the daemon's end).
  bool acknowledges_early = false;  // what arrives is acknowledged before it was looked at
  bool doubles_windows = false;     // the daemon takes a device to want more than it said
  bool offers_unleased = false;     // now and then a fence is offered that nobody leased
  bool hides_resources = false;     // the daemon does not hear what devices share
};

class Network;

// One stream; both of its ends hold it.
class Stream : public tuner::WorkerLink, public std::enable_shared_from_this<Stream> {
 public:
  Stream(Network* network, int64_t id, std::string worker, WorkerPort* port);

  // ---- the daemon's end ----
  void Send(hone::v1::WorkResponse message) override;
  void Close(absl::Status status) override;

  // ---- the worker's end ----
  void Tell(const hone::v1::WorkRequest& message);
  // The worker ends the stream, and hears nothing of it from here on.
  void HangUp();

  // ---- faults ----
  void Break();
  // The daemon is dead.
  void LoseDaemon();

 private:
  // What is on its way in one direction, in order.
  using Pipe = std::deque<std::function<void()>>;

  void Push(Pipe& pipe, std::function<void()> item);
  void Arrive(Pipe& pipe);
  // What is sent from here on is lost, and so is the end of what is on its way.
  void Cut(Pipe& pipe);
  // The daemon learns that the stream is gone, after what is on its way.
  void PushClosed();
  void PushRequest(const hone::v1::WorkRequest& message);
  void NoteFault(Fault fault);
  void Write(Event event);
  void WriteRequest(const hone::v1::WorkRequest& message);
  void WriteResponse(const hone::v1::WorkResponse& message);

  Network* const network_;
  const int64_t id_;
  const std::string worker_;
  WorkerPort* port_;  // nullptr: the worker has ended it
  tuner::Dispatcher* const dispatcher_;
  const std::shared_ptr<Life> daemon_;
  Pipe to_daemon_;
  Pipe to_worker_;
  bool is_broken_ = false;
  bool is_closed_ = false;  // by the daemon
  int64_t straggles_until_ns_ = 0;
  std::map<std::string, std::string> fingerprints_;  // by device, of its Hello
};

class Network {
 public:
  Network(EventQueue* queue, History* history) : queue_(queue), history_(history) {}

  // A daemon is up. nullptr: it is dead, and every stream with it.
  void Listen(tuner::Dispatcher* dispatcher, std::shared_ptr<Life> daemon);
  // nullptr: nobody listens.
  std::shared_ptr<Stream> Dial(const std::string& worker, WorkerPort* port);
  // Nothing reaches the worker or comes from it until then.
  void BlackHole(const std::string& worker, int64_t until_ns);
  // One of the streams that are up breaks.
  void BreakOne();

  NetworkWeather weather;

 private:
  friend class Stream;

  int64_t BlackUntil(const std::string& worker) const;

  EventQueue* const queue_;
  History* const history_;
  tuner::Dispatcher* dispatcher_ = nullptr;
  std::shared_ptr<Life> daemon_;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::map<std::string, int64_t> black_until_ns_;
  std::map<std::string, int64_t> noted_until_ns_;  // of the hole that has swallowed something
  int64_t last_stream_ = 0;
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_NETWORK_H_
