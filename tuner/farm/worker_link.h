// The daemon's end of a worker's stream.
#ifndef HONE_TUNER_FARM_WORKER_LINK_H_
#define HONE_TUNER_FARM_WORKER_LINK_H_

#include "absl/status/status.h"
#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// Thread-safe.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  // Messages arrive in the order of the calls, or the stream ends. Never blocks.
  virtual void Send(hone::v1::WorkResponse message) = 0;
  // Ends the stream with this status, once what was sent before is out.
  virtual void Close(absl::Status status) = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_WORKER_LINK_H_
