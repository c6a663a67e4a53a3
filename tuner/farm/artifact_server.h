// Sends built code to the workers that ask for it, a bounded number of chunks at a time.
#ifndef HONE_TUNER_FARM_ARTIFACT_SERVER_H_
#define HONE_TUNER_FARM_ARTIFACT_SERVER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "tuner/farm/artifact_store.h"
#include "tuner/farm/worker_link.h"
#include "tuner/mailbox.h"

namespace hone::tuner {

struct ArtifactServerLimits {
  uint64_t chunk_bytes = uint64_t{1} << 20;
  int chunks_a_stream = 4;         // sent and not yet written
  int chunks_in_all = 256;         // likewise, over all streams
  size_t waiting_a_stream = 1024;  // artifacts that a worker may have asked for at once
};

// Streams take turns chunk by chunk; within one, artifacts come in the order in which they were
// asked for. Touched on one executor only, to which `mailbox` leads; it must be closed before this
// is destroyed.
class ArtifactServer {
 public:
  ArtifactServer(uint64_t keep_bytes, std::shared_ptr<Mailbox> mailbox,
                 ArtifactServerLimits limits = {})
      : artifacts_(keep_bytes), mailbox_(std::move(mailbox)), limits_(limits) {}

  void Put(const Artifact& artifact) { artifacts_.Put(artifact); }
  bool Has(const std::string& digest) { return artifacts_.Find(digest) != nullptr; }
  // Begins to send the artifact. kNotFound: it is not here any more, and the worker is told so.
  // kResourceExhausted: the stream waits for too many already.
  absl::Status Serve(const std::shared_ptr<WorkerLink>& link, const std::string& digest);
  // The stream has ended.
  void Forget(const WorkerLink* link);
  int in_flight() const { return in_flight_; }

 private:
  struct Transfer {
    std::string digest;
    std::shared_ptr<const std::string> bytes;
    uint64_t offset = 0;
  };
  struct Stream {
    std::shared_ptr<WorkerLink> link;
    std::deque<Transfer> transfers;
    int in_flight = 0;
    bool has_turn = false;  // it is among turns_
  };

  void Pump();
  void GiveTurn(const std::shared_ptr<Stream>& stream);
  void SendChunk(const std::shared_ptr<Stream>& stream);

  ArtifactStore artifacts_;
  const std::shared_ptr<Mailbox> mailbox_;
  const ArtifactServerLimits limits_;
  std::unordered_map<const WorkerLink*, std::shared_ptr<Stream>> streams_;
  std::deque<std::shared_ptr<Stream>> turns_;  // who may send a chunk now
  int in_flight_ = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_ARTIFACT_SERVER_H_
