#include "tuner/farm/artifact_server.h"

#include <fmt/format.h>

#include <utility>

namespace hone::tuner {

namespace v1 = hone::v1;

absl::Status ArtifactServer::Serve(const std::shared_ptr<WorkerLink>& link,
                                   const std::string& digest) {
  std::shared_ptr<const std::string> bytes = artifacts_.Find(digest);
  if (bytes == nullptr) {
    v1::WorkResponse message;
    message.mutable_chunk()->set_digest(digest);
    message.mutable_chunk()->set_missing(true);
    link->Send(std::move(message));
    return absl::NotFoundError(fmt::format("artifact {} is not kept any more", digest));
  }
  std::shared_ptr<Stream>& stream = streams_[link.get()];
  if (stream == nullptr) {
    stream = std::make_shared<Stream>();
    stream->link = link;
  }
  if (stream->transfers.size() >= limits_.waiting_a_stream) {
    return absl::ResourceExhaustedError(
        fmt::format("expected a worker to wait for at most {} artifacts at once, found more",
                    limits_.waiting_a_stream));
  }
  stream->transfers.push_back({digest, std::move(bytes)});
  GiveTurn(stream);
  Pump();
  return absl::OkStatus();
}

void ArtifactServer::Forget(const WorkerLink* link) {
  const auto it = streams_.find(link);
  if (it == streams_.end()) return;
  it->second->transfers.clear();  // its chunks in flight are counted down as they end
  streams_.erase(it);
}

void ArtifactServer::GiveTurn(const std::shared_ptr<Stream>& stream) {
  if (stream->has_turn || stream->transfers.empty()) return;
  if (stream->in_flight >= limits_.chunks_a_stream) return;
  stream->has_turn = true;
  turns_.push_back(stream);
}

void ArtifactServer::Pump() {
  while (in_flight_ < limits_.chunks_in_all && !turns_.empty()) {
    const std::shared_ptr<Stream> stream = std::move(turns_.front());
    turns_.pop_front();
    stream->has_turn = false;
    if (stream->transfers.empty()) continue;
    SendChunk(stream);
    GiveTurn(stream);
  }
}

void ArtifactServer::SendChunk(const std::shared_ptr<Stream>& stream) {
  Transfer& transfer = stream->transfers.front();
  v1::WorkResponse message;
  v1::ArtifactChunk& chunk = *message.mutable_chunk();
  chunk.set_digest(transfer.digest);
  chunk.set_total_bytes(transfer.bytes->size());
  chunk.set_offset(transfer.offset);
  chunk.set_data(transfer.bytes->substr(transfer.offset, limits_.chunk_bytes));
  transfer.offset += chunk.data().size();
  if (transfer.offset >= transfer.bytes->size()) stream->transfers.pop_front();
  ++stream->in_flight;
  ++in_flight_;
  // The callback goes by the mailbox, even where it is called at once, for what it does must not
  // run inside Pump.
  stream->link->SendThen(std::move(message), [this, mailbox = mailbox_, stream] {
    mailbox->Post([this, stream] {
      --stream->in_flight;
      --in_flight_;
      GiveTurn(stream);
      Pump();
    });
  });
}

}  // namespace hone::tuner
