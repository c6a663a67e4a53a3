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
  int chunks_a_stream = 4;         // chunks sent but not yet written to the stream
  int chunks_in_all = 256;         // likewise, over all streams
  size_t waiting_a_stream = 1024;  // artifacts that a worker may be waiting for at once
};

// Streams take turns chunk by chunk; each gets its artifacts in the order in which it asked for
// them. Used only on the executor of `mailbox`, which must be closed before this object is
// destroyed.
class ArtifactServer {
 public:
  ArtifactServer(uint64_t keep_bytes, std::shared_ptr<Mailbox> mailbox,
                 ArtifactServerLimits limits = {})
      : artifacts_(keep_bytes), mailbox_(std::move(mailbox)), limits_(limits) {}

  void Put(const Artifact& artifact) { artifacts_.Put(artifact); }
  bool Has(const std::string& digest) { return artifacts_.Find(digest) != nullptr; }
  // Begins to send the artifact. kNotFound if it is no longer here, which the worker is told;
  // kResourceExhausted if the stream already waits for too many.
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
