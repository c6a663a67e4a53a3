// Clients that keep the farm busy by submitting jobs to the tuning service.
#ifndef HONE_BENCH_LOAD_BENCH_LOAD_CUSTOMERS_H_
#define HONE_BENCH_LOAD_BENCH_LOAD_CUSTOMERS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "hone/v1/tuning.grpc.pb.h"

namespace hone::bench {

struct CustomerOptions {
  std::string address;
  std::vector<std::string> targets;
  int open_jobs = 0;  // for each target, at any time
  int tasks = 0;      // in a job
  int trials = 0;     // for each task
};

// Until it is destroyed or ten calls or jobs have failed, a thread submits a new job whenever one
// has ended.
class LoadCustomers {
 public:
  explicit LoadCustomers(CustomerOptions options);
  ~LoadCustomers();
  LoadCustomers(const LoadCustomers&) = delete;
  LoadCustomers& operator=(const LoadCustomers&) = delete;

  // Jobs that ended as done, and those that ended otherwise or could not be submitted.
  int64_t done() const { return done_; }
  int64_t failed() const { return failed_; }

 private:
  void Run();
  int64_t BudgetOf(size_t open_jobs) const;
  int64_t Submit(const std::string& target, int64_t trials);
  bool HasEnded(int64_t job);

  const CustomerOptions options_;
  const std::unique_ptr<hone::v1::TuningService::Stub> stub_;
  int64_t submitted_ = 0;
  std::atomic<int64_t> done_ = 0;
  std::atomic<int64_t> failed_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_LOAD_BENCH_LOAD_CUSTOMERS_H_
