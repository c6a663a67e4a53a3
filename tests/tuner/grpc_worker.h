// A worker that speaks FarmService.Work over a real stream and measures nothing.
#ifndef HONE_TESTS_TUNER_GRPC_WORKER_H_
#define HONE_TESTS_TUNER_GRPC_WORKER_H_

#include <atomic>
#include <map>
#include <string>

#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// Serves one stream after the other, and keeps what was not acknowledged in between. Run blocks;
// Stop may be called from another thread.
class GrpcWorker {
 public:
  GrpcWorker(std::string name, std::string address, int delay_us)
      : name_(std::move(name)), address_(std::move(address)), delay_us_(delay_us) {}
  void Run();
  void Stop() { stopping_ = true; }

 private:
  void ServeOneStream();

  const std::string name_;
  const std::string address_;
  const int delay_us_;  // of a measurement
  std::atomic<bool> stopping_ = false;
  std::map<int64_t, hone::v1::MeasureResult> held_;  // by fence
  std::map<std::string, std::string> artifacts_;     // by digest
};

}  // namespace hone::tuner

#endif  // HONE_TESTS_TUNER_GRPC_WORKER_H_
