// The daemon's end of a worker's stream.
#ifndef HONE_TUNER_FARM_WORKER_LINK_H_
#define HONE_TUNER_FARM_WORKER_LINK_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// Thread-safe.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  // Messages arrive in the order of the calls, or the stream ends. Never blocks.
  virtual void Send(hone::v1::WorkResponse message) = 0;
  // As Send; `written` is called, from any thread, when the message has left this process or the
  // stream has ended.
  virtual void SendThen(hone::v1::WorkResponse message, std::function<void()> written) {
    Send(std::move(message));
    written();
  }
  // Called when the last received message has been handled, so that the next may be read.
  virtual void Taken() {}
  // Ends the stream with this status, after everything sent before is written.
  virtual void Close(absl::Status status) = 0;
  // The caller ("uid:1000") as the daemon knows it, not as the worker claims. Empty: unknown.
  virtual std::string identity() const { return ""; }
  // Messages that wait to be written.
  virtual size_t queued() { return 0; }
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_WORKER_LINK_H_
