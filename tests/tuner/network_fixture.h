// A daemon that serves a network of its own machine, and calls of those whom it granted something.
#ifndef HONE_TESTS_TUNER_NETWORK_FIXTURE_H_
#define HONE_TESTS_TUNER_NETWORK_FIXTURE_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "hone/v1/tuning.grpc.pb.h"
#include "support/scratch_folder.h"
#include "tests/tuner/fake_job.h"
#include "tests/tuner/fakes.h"
#include "transport/dial.h"
#include "tuner/add_grant.h"
#include "tuner/server_identity.h"
#include "tuner/service/daemon.h"

namespace hone::tuner {

namespace v1 = hone::v1;

inline int64_t NowS() { return Clock::Real().WallTimeNs() / 1'000'000'000; }

class NetworkTest : public testing::Test {
 protected:
  NetworkTest() {
    EXPECT_TRUE(identity_.Make({"localhost", "127.0.0.1"}, NowS()).ok());
    address_.certificate = identity_.Fingerprint().value();
    tls_ = identity_.OptionsFor("127.0.0.1:0");
  }
  ~NetworkTest() override { daemon_.reset(); }

  void Start() {
    DaemonOptions options;
    options.socket = folder_.path() + "/run/socket";
    options.tls = tls_;
    options.advertised = "farm:7070";
    options.certificate = address_.certificate;
    options.audit_log = audit_log_;
    DaemonParts parts;
    parts.store = store_.get();
    parts.lowerer = &lowerer_;
    parts.builder = std::make_unique<FakeBuilder>(&builder_thread_);
    parts.search = [this](const std::string& name) { return name == "fake" ? &search_ : nullptr; };
    parts.clock = &Clock::Real();
    daemon_ = Daemon::Start(std::move(options), std::move(parts)).value();
    address_.host_port = "127.0.0.1:" + std::to_string(daemon_->port());
  }

  // A new name's address, with a token.
  ServerAddress Grant(const std::string& name, const std::string& role, int64_t lasts_ns = 0) {
    ServerAddress address = address_;
    const auto added =
        AddGrantTo(*store_, Clock::Real(), {.name = name, .role = role, .lasts_ns = lasts_ns});
    EXPECT_TRUE(added.ok()) << added.status();
    if (added.ok()) address.token = added->token;
    return address;
  }

  template <typename Service, typename Request, typename Response>
  static absl::Status Call(const DaemonConnection& to,
                           grpc::Status (Service::Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Response*),
                           const Request& request, Response* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    const auto stub = Service::NewStub(to.channel());
    return to.StatusOf((stub.get()->*method)(&context, request, response));
  }
  static absl::Status List(const DaemonConnection& to) {
    v1::ListJobsResponse response;
    return Call<v1::TuningService>(to, &v1::TuningService::Stub::ListJobs, v1::ListJobsRequest(),
                                   &response);
  }
  static absl::StatusOr<v1::JobInfo> Submit(const DaemonConnection& to, const std::string& client) {
    v1::SubmitJobRequest request;
    request.set_client_id(client);
    *request.mutable_spec() = FakeJob({"conv"}, 20);
    v1::SubmitJobResponse response;
    const absl::Status status =
        Call<v1::TuningService>(to, &v1::TuningService::Stub::SubmitJob, request, &response);
    if (!status.ok()) return status;
    return response.job();
  }
  static absl::Status Pause(const DaemonConnection& to, int64_t job) {
    v1::PauseJobRequest request;
    request.set_id(job);
    v1::PauseJobResponse response;
    return Call<v1::TuningService>(to, &v1::TuningService::Stub::PauseJob, request, &response);
  }
  // Asks again until it is let in: a daemon notices within a second what another has changed.
  static absl::Status ListOnceKnown(const DaemonConnection& to) {
    const int64_t until_s = NowS() + 20;
    absl::Status status = List(to);
    while (absl::IsUnauthenticated(status) && NowS() < until_s) status = List(to);
    return status;
  }

  const ScratchFolder folder_ = ScratchFolder::Make(testing::TempDir(), "network").value();
  const ServerIdentity identity_{folder_.path() + "/tls"};
  TlsOptions tls_;
  ServerAddress address_;
  std::string audit_log_;  // a file; empty: none
  const std::unique_ptr<tuning_db::Store> store_ = tuning_db::MakeMemoryStore();
  FakeLowerer lowerer_;
  FakeSearch search_;
  ThreadExecutor builder_thread_;
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace hone::tuner

#endif  // HONE_TESTS_TUNER_NETWORK_FIXTURE_H_
