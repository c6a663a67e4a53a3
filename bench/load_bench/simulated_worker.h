// A worker that speaks the farm's protocol over a stream of its own. It measures nothing: instead
// of measuring, it waits.
#ifndef HONE_BENCH_LOAD_BENCH_SIMULATED_WORKER_H_
#define HONE_BENCH_LOAD_BENCH_SIMULATED_WORKER_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "bench/load_bench/alarm_clock.h"
#include "hone/v1/farm.grpc.pb.h"

namespace hone::bench {

struct WorkerOptions {
  std::string name;
  std::string address;
  std::string target;
  uint32_t window = 2;  // how many assignments it asks to hold at once
  int64_t measure_ns = 0;
};

// A result that was acknowledged.
struct Settled {
  int64_t sent_ns = 0;  // on the steady clock
  int64_t acknowledged_ns = 0;
};

// Thread-safe. The stream lasts until End is called or it breaks; the worker does not dial again.
class SimulatedWorker final
    : public grpc::ClientBidiReactor<hone::v1::WorkRequest, hone::v1::WorkResponse> {
 public:
  // The clock must outlive the worker, and the worker must outlive its stream (WaitForEnd).
  SimulatedWorker(WorkerOptions options, AlarmClock* clock);

  void Start();
  void End() { context_.TryCancel(); }
  void WaitForEnd();

  const std::string& target() const { return options_.target; }
  bool IsWelcome() const;
  bool IsOver() const;
  int64_t revoked() const;
  std::vector<Settled> settled() const;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  // The methods below are called with mutex_ held.
  void Take(const hone::v1::WorkResponse& message);
  void TakeAssignment(const hone::v1::Assignment& assignment);
  void TakeChunk(const hone::v1::ArtifactChunk& chunk);
  // Asks for the artifacts of the assignment that are neither here nor on their way.
  void FetchAll(const hone::v1::Assignment& assignment);
  void Fetch(const hone::v1::Candidate& candidate);
  bool IsHere(const hone::v1::Assignment& assignment) const;
  void BeginNext();
  void SendHeartbeat();
  void Send(hone::v1::WorkRequest message);
  void WriteNext();

  void EndMeasurement();

  const WorkerOptions options_;
  AlarmClock* const clock_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<hone::v1::FarmService::Stub> stub_;
  grpc::ClientContext context_;
  hone::v1::WorkResponse incoming_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable ended_;
  std::deque<hone::v1::WorkRequest> outgoing_;
  bool is_writing_ = false;
  bool is_closing_ = false;  // the stream broke, so nothing is written any more
  bool is_over_ = false;
  bool is_welcome_ = false;
  std::deque<hone::v1::Assignment> assignments_;  // the first one is running if is_measuring_
  bool is_measuring_ = false;
  int64_t began_ns_ = 0;
  std::map<std::string, uint64_t> bytes_left_;  // of artifacts that are on their way
  std::set<std::string> here_;                  // digests
  std::map<int64_t, int64_t> sent_ns_;          // of results without an answer, by fence
  std::vector<Settled> settled_;
  int64_t revoked_ = 0;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_LOAD_BENCH_SIMULATED_WORKER_H_
