// A router without a stream: what it says is kept, what the daemon says is handed to it.
#ifndef HONE_TESTS_MEASURE_SERVER_ROUTER_FIXTURE_H_
#define HONE_TESTS_MEASURE_SERVER_ROUTER_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure_server/router.h"
#include "support/digest.h"

namespace hone::measure {

namespace v1 = hone::v1;

inline const std::string& Bytes() {
  static const auto* const bytes = new std::string(3'000'000, 'k');
  return *bytes;
}
inline const std::string& Digest() {
  static const auto* const digest = new std::string(Sha256Hex(Bytes()));
  return *digest;
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() : router_(Options(), &Clock::Real()) { Connect(); }

  RouterOptions Options() {
    RouterOptions options;
    options.hello.set_worker("w");
    options.hello.add_devices()->set_id("cpu0");
    options.window = 3;
    options.cancel = [this](const std::string&, int64_t) { cancelled_ += 1; };
    return options;
  }

  void Connect(uint32_t protocol = 2) {
    SayHello();
    Welcome(protocol);
  }
  void SayHello() {
    router_.Connected([this](v1::WorkRequest message) { sent_.push_back(std::move(message)); },
                      [this] { said_finished_ = true; });
  }
  void Welcome(uint32_t protocol) {
    v1::WorkResponse welcome;
    welcome.mutable_welcome()->set_protocol(protocol);
    welcome.mutable_welcome()->set_heartbeat_interval_ns(1'000'000'000);
    router_.Receive(welcome);
  }
  void Assign(int64_t fence, const std::function<void(v1::Assignment&)>& change = nullptr) {
    v1::WorkResponse message;
    v1::Assignment& assignment = *message.mutable_assignment();
    assignment.set_fence(fence);
    assignment.set_trial(fence * 10);
    assignment.set_device("cpu0");
    assignment.add_candidates()->set_artifact_digest(Digest());
    if (change) change(assignment);
    router_.Receive(message);
  }
  void SendChunk(uint64_t offset, uint64_t size, char flip = 0) {
    v1::WorkResponse message;
    v1::ArtifactChunk& chunk = *message.mutable_chunk();
    chunk.set_digest(Digest());
    chunk.set_total_bytes(Bytes().size());
    chunk.set_offset(offset);
    std::string data = Bytes().substr(offset, size);
    data[0] = static_cast<char>(data[0] ^ flip);
    chunk.set_data(data);
    router_.Receive(message);
  }
  void SendArtifact() { SendChunk(0, Bytes().size()); }
  void Acknowledge(int64_t fence) {
    v1::WorkResponse message;
    message.mutable_acknowledge()->set_fence(fence);
    router_.Receive(message);
  }
  void Revoke(int64_t fence) {
    v1::WorkResponse message;
    message.mutable_revoke()->set_fence(fence);
    router_.Receive(message);
  }
  void SayDrain() {
    v1::WorkResponse message;
    message.mutable_drain();
    router_.Receive(message);
  }
  void SayUndrain() {
    v1::WorkResponse message;
    message.mutable_undrain();
    router_.Receive(message);
  }
  // Measures the next assignment; returns its fence.
  int64_t MeasureOne() {
    const std::optional<Job> job = router_.Next("cpu0");
    if (!job) return -1;
    router_.Finish("cpu0", FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
    return job->assignment.fence();
  }
  std::vector<int64_t> ResultsSent() const {
    std::vector<int64_t> fences;
    for (const v1::WorkRequest& message : sent_) {
      if (message.has_result()) fences.push_back(message.result().fence());
    }
    return fences;
  }
  uint32_t CreditSent() const {
    uint32_t credit = 0;
    for (const v1::WorkRequest& message : sent_) credit += message.credit().count();
    return credit;
  }
  int FetchesSent() const {
    int count = 0;
    for (const v1::WorkRequest& message : sent_) count += message.has_fetch();
    return count;
  }

  int cancelled_ = 0;
  bool said_finished_ = false;
  std::vector<v1::WorkRequest> sent_;
  Router router_;
};

}  // namespace hone::measure

#endif  // HONE_TESTS_MEASURE_SERVER_ROUTER_FIXTURE_H_
