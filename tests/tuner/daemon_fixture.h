// A daemon on fakes that serves a socket in this process, and its clients.
#ifndef HONE_TESTS_TUNER_DAEMON_FIXTURE_H_
#define HONE_TESTS_TUNER_DAEMON_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hone/v1/farm.grpc.pb.h"
#include "hone/v1/log.grpc.pb.h"
#include "hone/v1/tuning.grpc.pb.h"
#include "tests/tuner/fakes.h"
#include "tests/tuner/grpc_worker.h"
#include "tuner/service/daemon.h"

namespace hone::tuner {

// Its replies come from a thread of its own.
class ThreadedFakeBuilder : public FakeBuilder {
 public:
  ThreadedFakeBuilder() : FakeBuilder(&thread_) {}

 private:
  ThreadExecutor thread_;
};

class DaemonFixture : public ::testing::Test {
 protected:
  DaemonFixture();
  ~DaemonFixture() override;

  // The old daemon has to be gone. The store outlives it, and clients dial again.
  void StartDaemon(std::unique_ptr<Builder> builder = std::make_unique<ThreadedFakeBuilder>());
  void StartWorker();

  // A job with one task, "conv".
  static hone::v1::SubmitJobRequest Request(const std::string& client_id, int64_t trials = 20);
  grpc::Status Submit(const hone::v1::SubmitJobRequest& request, hone::v1::JobInfo* job);
  // At most `limit` events (0: to the end).
  std::vector<hone::v1::WatchJobResponse> Watch(int64_t job, int64_t after, size_t limit = 0);

  const std::filesystem::path folder_;
  std::unique_ptr<tuning_db::Store> store_ = tuning_db::MakeMemoryStore();
  FakeLowerer lowerer_;
  FakeSearch search_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<GrpcWorker> worker_;
  std::thread thread_;
  std::unique_ptr<hone::v1::TuningService::Stub> tuning_;
  std::unique_ptr<hone::v1::FarmService::Stub> farm_;
  std::unique_ptr<hone::v1::LogService::Stub> log_;
  grpc::Status watched_;  // how the last Watch ended
  bool changes_only_ = false;
  pid_t client_ = 0;     // of the next daemon
  std::string metrics_;  // of the next daemon
};

}  // namespace hone::tuner

#endif  // HONE_TESTS_TUNER_DAEMON_FIXTURE_H_
