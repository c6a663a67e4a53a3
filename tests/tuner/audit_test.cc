// What the log of audits says of calls, over a network and a Unix socket.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone/v1/auth.grpc.pb.h"
#include "hone/v1/farm.grpc.pb.h"
#include "hone/v1/log.grpc.pb.h"
#include "tests/tuner/network_fixture.h"

namespace hone::tuner {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

class AuditTest : public NetworkTest {
 protected:
  AuditTest() { audit_log_ = folder_.path() + "/audit"; }

  // The lines of a method, once the daemon has ended: a call is noted as its answer is sent.
  std::vector<json> NotedOf(const std::string& method) {
    daemon_.reset();
    std::vector<json> noted;
    std::ifstream file(audit_log_);
    for (std::string line; std::getline(file, line);) {
      const json call = json::parse(line);
      if (call["method"] == method) noted.push_back(call);
    }
    return noted;
  }
  DaemonConnection As(ServerAddress grant) const {
    grant.host_port = address_.host_port;
    return DaemonConnection(grant);
  }
};

TEST_F(AuditTest, SaysWhatAServiceRefusedAndWhatItWasAbout) {
  const ServerAddress ann = Grant("ann", "submit");
  const ServerAddress bob = Grant("bob", "submit");
  Start();
  const auto job = Submit(As(ann), "annas-key");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE(absl::IsPermissionDenied(Pause(As(bob), job->id())));
  EXPECT_TRUE(absl::IsNotFound(Pause(As(bob), job->id() + 77)));
  EXPECT_TRUE(Pause(As(ann), job->id()).ok());

  const std::vector<json> paused = NotedOf("/hone.v1.TuningService/PauseJob");
  ASSERT_EQ(paused.size(), 3u);
  EXPECT_EQ(paused[0]["outcome"], "PERMISSION_DENIED");
  EXPECT_EQ(paused[0]["caller"], "bob");
  EXPECT_EQ(paused[0]["job"], job->id());
  EXPECT_THAT(paused[0]["peer"].get<std::string>(), StartsWith("127.0.0.1:"));
  EXPECT_EQ(paused[1]["outcome"], "NOT_FOUND");
  EXPECT_EQ(paused[1]["job"], job->id() + 77);
  EXPECT_EQ(paused[2]["outcome"], "OK");
  EXPECT_EQ(paused[2]["caller"], "ann");
  const std::vector<json> submitted = NotedOf("/hone.v1.TuningService/SubmitJob");
  ASSERT_EQ(submitted.size(), 1u);
  EXPECT_EQ(submitted[0]["job"], job->id()) << "the number that the daemon gave it";
  EXPECT_EQ(submitted[0]["client_id"], "annas-key");
}

TEST_F(AuditTest, NamesWorkersRecordsAndGrants) {
  const ServerAddress root = Grant("root", "admin");
  Start();
  const DaemonConnection admin = As(root);
  v1::DrainWorkerRequest drain;
  drain.set_worker("board-9");
  v1::DrainWorkerResponse drained;
  EXPECT_FALSE(
      Call<v1::FarmService>(admin, &v1::FarmService::Stub::DrainWorker, drain, &drained).ok());
  v1::RetractRecordRequest retract;
  retract.set_record(4711);
  retract.set_reason("a reason");
  v1::RetractRecordResponse retracted;
  EXPECT_FALSE(
      Call<v1::LogService>(admin, &v1::LogService::Stub::RetractRecord, retract, &retracted).ok());
  v1::AddGrantRequest add;
  add.set_name("rita");
  add.set_role("read");
  v1::AddGrantResponse added;
  EXPECT_TRUE(Call<v1::AuthService>(admin, &v1::AuthService::Stub::AddGrant, add, &added).ok());

  const std::vector<json> drains = NotedOf("/hone.v1.FarmService/DrainWorker");
  ASSERT_EQ(drains.size(), 1u);
  EXPECT_EQ(drains[0]["worker"], "board-9");
  EXPECT_EQ(drains[0]["outcome"], "NOT_FOUND");
  EXPECT_EQ(NotedOf("/hone.v1.LogService/RetractRecord").at(0)["record"], 4711);
  const json grant = NotedOf("/hone.v1.AuthService/AddGrant").at(0);
  EXPECT_EQ(grant["grant"], "rita");
  EXPECT_EQ(grant["role"], "read");
  EXPECT_EQ(grant.dump().find(added.token()), std::string::npos) << "no token is in it";
}

TEST_F(AuditTest, SaysWhenAWorkersStreamBeginsAndHowItEnds) {
  const ServerAddress board = Grant("board-7", "work");
  Start();
  {
    const DaemonConnection connection = As(board);
    grpc::ClientContext context;
    const auto stub = v1::FarmService::NewStub(connection.channel());
    const auto stream = stub->Work(&context);
    v1::WorkRequest hello;
    hello.mutable_hello()->set_worker("bench-1");
    ASSERT_TRUE(stream->Write(hello));
    v1::WorkResponse answer;
    while (stream->Read(&answer)) {
    }
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION)
        << "it speaks no protocol";
  }
  const std::vector<json> noted = NotedOf("/hone.v1.FarmService/Work");
  ASSERT_EQ(noted.size(), 2u);
  EXPECT_EQ(noted[0]["outcome"], "OPEN");
  EXPECT_EQ(noted[0]["worker"], "bench-1");
  EXPECT_EQ(noted[1]["outcome"], "FAILED_PRECONDITION");
  EXPECT_EQ(noted[1]["worker"], "bench-1");
}

TEST_F(AuditTest, HasWhoIsRefusedAtTheDoorAndNoneWhoOnlyReads) {
  const ServerAddress rita = Grant("rita", "read");
  Start();
  EXPECT_TRUE(List(As(rita)).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Pause(As(rita), 1)));
  const std::vector<json> refused = NotedOf("/hone.v1.TuningService/PauseJob");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0]["caller"], "rita");
  EXPECT_EQ(refused[0]["outcome"], "PERMISSION_DENIED");
  EXPECT_TRUE(NotedOf("/hone.v1.TuningService/ListJobs").empty());
}

TEST_F(AuditTest, HasWhatTheDaemonsOwnUserChangesAtItsSocket) {
  Start();
  const auto job = Submit(DaemonConnection(ReadServerAddress(daemon_->address()).value()), "key");
  ASSERT_TRUE(job.ok()) << job.status();
  const std::vector<json> submitted = NotedOf("/hone.v1.TuningService/SubmitJob");
  ASSERT_EQ(submitted.size(), 1u);
  EXPECT_THAT(submitted[0]["peer"].get<std::string>(), StartsWith("uid:"));
}

}  // namespace
}  // namespace hone::tuner
