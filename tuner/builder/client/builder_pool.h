// The daemon's builders: hone-builder processes, and a thread for each that feeds it. No LLVM here.
#ifndef HONE_TUNER_BUILDER_CLIENT_BUILDER_POOL_H_
#define HONE_TUNER_BUILDER_CLIENT_BUILDER_POOL_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tuner/builder.h"
#include "tuner/builder/client/builder_process.h"

namespace hone::tuner {

// The program next to this one.
std::string DefaultBuilderExecutable();

// Thread-safe. Processes start with their first batch, are started again when they die, and are
// killed when they do not answer in the time their requests allow.
class BuilderPool : public Builder {
 public:
  struct Options {
    int processes = 1;
    std::string executable = DefaultBuilderExecutable();
    // How long a builder may take to say what it can build, and how much longer than the limits of
    // its requests a batch may take, for running a request again after a child died.
    int64_t grace_ns = int64_t{30} * 1000 * 1000 * 1000;
    // The limit for requests that have none.
    int64_t default_limit_ns = int64_t{60} * 1000 * 1000 * 1000;
  };
  explicit BuilderPool(Options options);
  // Kills the processes; requests still open get kCancelled.
  ~BuilderPool() override;

  // A request whose builder died or did not answer gets kUnavailable; other builders' batches go
  // on. It gets kFailedPrecondition if the builder has another toolchain than the first builder
  // had, cannot build for such a target, or does not say what it can build.
  void Build(const hone::v1::BuildBatch& batch, BuildCallback done) override;

 private:
  struct Job {
    hone::v1::BuildBatch batch;
    BuildCallback done;
  };
  // A builder that has said what it can build.
  struct Process {
    std::unique_ptr<BuilderProcess> process;  // nullptr: there is none
    hone::v1::BuilderHello hello;
  };
  // The requests that are not answered, by id.
  using Requests = std::multimap<uint64_t, hone::v1::BuildRequest>;

  void Serve();
  void RunJob(Job& job, Process& process);
  absl::Status Start(Process& process);
  void RefuseWhatItCannotBuild(const Job& job, const Process& process, Requests& open);
  // An error means that the builder failed and its process has to be replaced.
  absl::Status Build(const Job& job, Process& process, Requests& open);
  // The next message. kUnavailable if the builder ended, kDeadlineExceeded if no message came in
  // time.
  absl::StatusOr<std::string> Receive(BuilderProcess& process, int64_t deadline_ns);
  hone::v1::BuilderHello FirstHello();
  int64_t LimitNs(const hone::v1::BuildBatch& batch) const;
  bool stopping();

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  hone::v1::BuilderHello first_hello_;  // of the first builder; empty: there was none
  std::vector<std::thread> threads_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_CLIENT_BUILDER_POOL_H_
