// Every method of every service, called over a network by everybody.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <set>

#include "hone/v1/auth.pb.h"
#include "hone/v1/farm.pb.h"
#include "hone/v1/log.pb.h"
#include "hone/v1/tuning.pb.h"
#include "tests/tuner/network_fixture.h"
#include "tuner/role.h"
#include "tuner/service/call_subject.h"

namespace hone::tuner {
namespace {

// Who may call what: r(ead), s(ubmit), w(ork), a(dmin). Written down a second time, so that nobody
// opens a method to others by one wrong word.
const std::map<std::string, std::string> kMayCall = {
    {"/hone.v1.TuningService/SubmitJob", "sa"},
    {"/hone.v1.TuningService/CloneJob", "sa"},
    {"/hone.v1.TuningService/GetJob", "rsa"},
    {"/hone.v1.TuningService/ListJobs", "rsa"},
    {"/hone.v1.TuningService/WatchJob", "rsa"},
    {"/hone.v1.TuningService/CancelJob", "sa"},
    {"/hone.v1.TuningService/PauseJob", "sa"},
    {"/hone.v1.TuningService/ResumeJob", "sa"},
    {"/hone.v1.TuningService/GetConfigs", "rsa"},
    {"/hone.v1.TuningService/AddModelFinal", "a"},
    {"/hone.v1.TuningService/GetModelFinal", "rsa"},
    {"/hone.v1.FarmService/Work", "wa"},
    {"/hone.v1.FarmService/ListWorkers", "rsa"},
    {"/hone.v1.FarmService/DrainWorker", "a"},
    {"/hone.v1.FarmService/UndrainWorker", "a"},
    {"/hone.v1.FarmService/QuarantineWorker", "a"},
    {"/hone.v1.FarmService/ReleaseWorker", "a"},
    {"/hone.v1.LogService/ListRecords", "rsa"},
    {"/hone.v1.LogService/GetRecord", "rsa"},
    {"/hone.v1.LogService/ListFinals", "rsa"},
    {"/hone.v1.LogService/GetLogStats", "rsa"},
    {"/hone.v1.LogService/RecordMisses", "sa"},
    {"/hone.v1.LogService/ListMisses", "rsa"},
    {"/hone.v1.LogService/ExportLog", "rsa"},
    {"/hone.v1.LogService/ImportLog", "a"},
    {"/hone.v1.LogService/RetractRecord", "a"},
    {"/hone.v1.LogService/Prune", "a"},
    {"/hone.v1.AuthService/AddGrant", "a"},
    {"/hone.v1.AuthService/ListGrants", "a"},
    {"/hone.v1.AuthService/RevokeGrants", "a"},
    {"/hone.v1.AuthService/WhoAmI", "rswa"},
    {"/grpc.health.v1.Health/Check", "rswa"},
    {"/grpc.health.v1.Health/Watch", "rswa"},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "rsa"},
    {"/hone.v1.TuningService/OfANewerRelease", "a"},
};

std::set<std::string> MethodsOfOurs() {
  std::set<std::string> methods;
  for (const google::protobuf::FileDescriptor* file :
       {v1::ListJobsRequest::descriptor()->file(), v1::ListWorkersRequest::descriptor()->file(),
        v1::ListRecordsRequest::descriptor()->file(),
        v1::ListGrantsRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.insert("/" + file->service(s)->full_name() + "/" +
                       file->service(s)->method(m)->name());
      }
    }
  }
  return methods;
}

TEST(RolesTest, EveryMethodStandsInTheTable) {
  for (const std::string& method : MethodsOfOurs()) {
    EXPECT_TRUE(kMayCall.contains(method)) << method;
    EXPECT_TRUE(RoleFor(method)) << method;
  }
}

TEST(RolesTest, TheLogOfAuditsSaysWhatEveryChangeIsAbout) {
  for (const std::string& method : MethodsOfOurs()) {
    EXPECT_TRUE(RoleFor(method) == Role::kRead || HasSubject(method)) << method;
  }
}

class NetworkRolesTest : public NetworkTest {
 protected:
  // One empty message. What the method itself says to it does not matter here, nor does a stream
  // that goes on.
  static grpc::StatusCode CallEmpty(const DaemonConnection& to, const std::string& method) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
    grpc::ByteBuffer nothing(nullptr, 0);
    grpc::ByteBuffer answer;
    std::promise<grpc::Status> ended;
    grpc::GenericStub stub(to.channel());
    stub.UnaryCall(&context, method, grpc::StubOptions(), &nothing, &answer,
                   [&](grpc::Status status) { ended.set_value(std::move(status)); });
    return ended.get_future().get().error_code();
  }
};

TEST_F(NetworkRolesTest, EveryoneMayCallWhatTheTableSaysAndNothingElse) {
  const std::map<char, std::string> roles = {
      {'r', "read"}, {'s', "submit"}, {'w', "work"}, {'a', "admin"}};
  std::map<char, ServerAddress> grants;
  for (const auto& [letter, role] : roles) grants[letter] = Grant("of-" + role, role);
  Start();
  for (auto& [letter, grant] : grants) {
    grant.host_port = address_.host_port;
    const DaemonConnection connection(grant);
    for (const auto& [method, who] : kMayCall) {
      const grpc::StatusCode code = CallEmpty(connection, method);
      const bool is_let_in =
          code != grpc::StatusCode::PERMISSION_DENIED && code != grpc::StatusCode::UNAUTHENTICATED;
      EXPECT_EQ(is_let_in, who.find(letter) != std::string::npos)
          << roles.at(letter) << " calls " << method << ": " << code;
    }
  }
}

TEST_F(NetworkRolesTest, NobodyMayCallAnything) {
  ServerAddress ended = Grant("ended", "admin", 1);
  const ServerAddress revoked = Grant("revoked", "admin");
  ASSERT_TRUE(store_->RevokeGrants("revoked").ok());
  Start();
  ServerAddress wrong = address_;
  wrong.token = revoked.token;
  ended.host_port = address_.host_port;
  const size_t grants = store_->ListGrants()->size();
  for (const ServerAddress& stranger : {address_, wrong, ended}) {
    const DaemonConnection connection(stranger);
    for (const auto& [method, who] : kMayCall) {
      EXPECT_EQ(CallEmpty(connection, method), grpc::StatusCode::UNAUTHENTICATED) << method;
    }
  }
  EXPECT_EQ(store_->ListGrants()->size(), grants);
  EXPECT_TRUE(store_->Jobs()->empty());
}

TEST(RolesTest, WhatAReleaseDoesNotKnowIsTheAdministratorsAlone) {
  EXPECT_FALSE(MayCall(Role::kSubmit, "/hone.v1.TuningService/OfANewerRelease"));
  EXPECT_TRUE(MayCall(Role::kAdmin, "/hone.v1.TuningService/OfANewerRelease"));
}

}  // namespace
}  // namespace hone::tuner
