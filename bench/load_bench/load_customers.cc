#include "bench/load_bench/load_customers.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "bench/load_bench/null_tuner.h"

namespace hone::bench {

namespace v1 = hone::v1;

namespace {

constexpr auto kCustomerPoll = std::chrono::milliseconds(250);
constexpr auto kLimit = std::chrono::seconds(20);  // of a call
constexpr int kMostFailures = 10;

}  // namespace

LoadCustomers::LoadCustomers(CustomerOptions options)
    : options_(std::move(options)),
      stub_(v1::TuningService::NewStub(
          grpc::CreateChannel(options_.address, grpc::InsecureChannelCredentials()))),
      thread_([this] { Run(); }) {}

LoadCustomers::~LoadCustomers() {
  is_stopping_ = true;
  thread_.join();
}

void LoadCustomers::Run() {
  std::map<std::string, std::vector<int64_t>> open;  // by target
  while (!is_stopping_ && failed_ < kMostFailures) {
    for (const std::string& target : options_.targets) {
      std::vector<int64_t>& jobs = open[target];
      std::erase_if(jobs, [this](int64_t job) { return HasEnded(job); });
      while (static_cast<int>(jobs.size()) < options_.open_jobs && failed_ < kMostFailures) {
        if (const int64_t job = Submit(target, BudgetOf(jobs.size()))) jobs.push_back(job);
      }
    }
    std::this_thread::sleep_for(kCustomerPoll);
  }
}

// The first jobs of each target have less to do one than the other, so that from then on jobs do
// not end together.
int64_t LoadCustomers::BudgetOf(size_t open_jobs) const {
  const bool is_first =
      submitted_ < static_cast<int64_t>(options_.targets.size()) * options_.open_jobs;
  if (!is_first) return options_.trials;
  return std::max<int64_t>(
      1, options_.trials * static_cast<int64_t>(open_jobs + 1) / options_.open_jobs);
}

int64_t LoadCustomers::Submit(const std::string& target, int64_t trials) {
  const int64_t number = ++submitted_;
  v1::SubmitJobRequest request;
  request.set_client_id(fmt::format("load {}", number));
  v1::JobSpec& spec = *request.mutable_spec();
  spec.set_model("load");
  spec.set_target(target);
  spec.set_trials(trials);
  spec.set_search(kNullSearch);
  for (int n = 0; n < options_.tasks; ++n) {
    v1::TaskSpec& task = *spec.add_tasks();
    task.set_workload(
        fmt::format("fn (p0: Tensor[({}, {}, 56, 56), float32]) {{ load }}", number, n));
    task.set_signature("NCHW16c->NCHW16c");
    task.set_name(fmt::format("kernel {}", n));
    task.set_weight(1);
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLimit);
  v1::SubmitJobResponse response;
  const grpc::Status status = stub_->SubmitJob(&context, request, &response);
  if (status.ok()) return response.job().id();
  fmt::print(stderr, "load_bench: job {} is not taken: {}\n", number, status.error_message());
  ++failed_;
  return 0;
}

bool LoadCustomers::HasEnded(int64_t job) {
  v1::GetJobRequest request;
  request.set_id(job);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLimit);
  v1::GetJobResponse response;
  const grpc::Status status = stub_->GetJob(&context, request, &response);
  if (!status.ok()) {
    fmt::print(stderr, "load_bench: job {}: {}\n", job, status.error_message());
    ++failed_;
    return false;
  }
  switch (response.job().state()) {
    case v1::JOB_STATE_DONE:
      ++done_;
      return true;
    case v1::JOB_STATE_FAILED:
    case v1::JOB_STATE_CANCELLED:
      fmt::print(stderr, "load_bench: job {} failed: {}\n", job, response.job().message());
      ++failed_;
      return true;
    default:
      return false;
  }
}

}  // namespace hone::bench
