// A daemon that serves a network: who comes in, and how they are put out. What each may do is in
// network_roles_test.cc, what strangers try in network_strangers_test.cc.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "hone/v1/auth.grpc.pb.h"
#include "hone/v1/farm.grpc.pb.h"
#include "support/file_system.h"
#include "tests/tuner/network_fixture.h"
#include "transport/certificates.h"
#include "tuner/role.h"

namespace hone::tuner {
namespace {

using testing::HasSubstr;

TEST_F(NetworkTest, EveryRoleMayAskWhoItIs) {
  for (const Role role : {Role::kRead, Role::kSubmit, Role::kWork, Role::kAdmin}) {
    EXPECT_TRUE(MayCall(role, "/hone.v1.AuthService/WhoAmI"));
    EXPECT_TRUE(MayCall(role, "/grpc.health.v1.Health/Check"));
  }
  ServerAddress board = Grant("board", "work");
  Start();
  board.host_port = address_.host_port;
  v1::WhoAmIResponse response;
  const absl::Status status = Call<v1::AuthService>(
      DaemonConnection(board), &v1::AuthService::Stub::WhoAmI, v1::WhoAmIRequest(), &response);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(response.name(), "board");
  EXPECT_EQ(response.role(), "work");
  EXPECT_THAT(response.daemon(), testing::StartsWith("hone "));
  EXPECT_GT(response.wall_time_ns(), 0);
  EXPECT_GT(response.certificate_ends_at_ns(), response.wall_time_ns());
}

TEST_F(NetworkTest, ATokenLetsInAndNothingElseDoes) {
  const ServerAddress ann = Grant("ann", "submit");
  Start();
  EXPECT_TRUE(List(DaemonConnection([&] {
                ServerAddress a = ann;
                a.host_port = address_.host_port;
                return a;
              }()))
                  .ok());
  ServerAddress other = address_;
  EXPECT_TRUE(absl::IsUnauthenticated(List(DaemonConnection(other)))) << "no token";
  other.token = ann.token + "0";
  const absl::Status refused = List(DaemonConnection(other));
  EXPECT_TRUE(absl::IsUnauthenticated(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("hone auth add"));
}

TEST_F(NetworkTest, AServerThatIsNotThePinnedOneIsToldNothing) {
  Start();
  ServerAddress ann = Grant("ann", "submit");
  ann.certificate = std::string(64, '0');
  const absl::Status refused = List(DaemonConnection(ann));
  EXPECT_TRUE(absl::IsUnauthenticated(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("not the one of the join string"));
}

TEST_F(NetworkTest, ARoleIsAskedForEachCall) {
  Start();
  const DaemonConnection reader(Grant("rita", "read"));
  const DaemonConnection worker(Grant("wally", "work"));
  EXPECT_TRUE(ListOnceKnown(reader).ok());
  const absl::Status refused = Submit(reader, "c").status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("\"rita\" has the role read, which may not submit "
                        "jobs: that needs the role submit or admin"));
  EXPECT_TRUE(absl::IsPermissionDenied(ListOnceKnown(worker)));
}

TEST_F(NetworkTest, AJobIsOfTheTokensNameAndItsOwnerSteersIt) {
  Start();
  const DaemonConnection ann(Grant("ann", "submit"));
  const DaemonConnection bob(Grant("bob", "submit"));
  const DaemonConnection boss(Grant("boss", "admin"));
  ASSERT_TRUE(ListOnceKnown(boss).ok());
  ASSERT_TRUE(ListOnceKnown(ann).ok());
  const v1::JobInfo job = Submit(ann, "c").value();
  EXPECT_EQ(job.submitter(), "ann");
  const absl::Status refused = Pause(bob, job.id());
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_TRUE(Pause(ann, job.id()).ok());
  EXPECT_TRUE(Pause(boss, job.id()).ok()) << "it is paused already";
  EXPECT_TRUE(absl::IsNotFound(Pause(bob, 77)));
}

TEST_F(NetworkTest, RevocationEndsStreams) {
  Start();
  const DaemonConnection worker(Grant("wally", "work"));
  const DaemonConnection boss(Grant("boss", "admin"));
  ASSERT_TRUE(ListOnceKnown(boss).ok());
  const auto stub = v1::FarmService::NewStub(worker.channel());
  grpc::ClientContext context;
  const auto stream = stub->Work(&context);
  v1::RevokeGrantsRequest request;
  request.set_name("wally");
  v1::RevokeGrantsResponse response;
  EXPECT_TRUE(
      (Call<v1::AuthService>(boss, &v1::AuthService::Stub::RevokeGrants, request, &response).ok()));
  v1::WorkResponse message;
  EXPECT_FALSE(stream->Read(&message)) << "the daemon has ended it";
  EXPECT_FALSE(stream->Finish().ok());
  grpc::ClientContext again;
  const auto second = stub->Work(&again);
  EXPECT_FALSE(second->Read(&message));
  EXPECT_EQ(second->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(NetworkTest, AGrantThatHasEndedLetsNobodyIn) {
  const ServerAddress brief = Grant("brief", "read", 1);
  Start();
  ServerAddress address = brief;
  address.host_port = address_.host_port;
  EXPECT_TRUE(absl::IsUnauthenticated(List(DaemonConnection(address))));
}

TEST_F(NetworkTest, AnAdminGrantsOverTheNetwork) {
  Start();
  const DaemonConnection boss(Grant("boss", "admin"));
  ASSERT_TRUE(ListOnceKnown(boss).ok());
  v1::AddGrantRequest request;
  request.set_name("ann");
  request.set_role("submit");
  v1::AddGrantResponse response;
  const auto add = [&] {
    return Call<v1::AuthService>(boss, &v1::AuthService::Stub::AddGrant, request, &response);
  };
  ASSERT_TRUE(add().ok());
  EXPECT_EQ(response.host_port(), "farm:7070");
  EXPECT_EQ(response.certificate(), address_.certificate);
  ServerAddress ann = address_;
  ann.token = response.token();
  EXPECT_TRUE(List(DaemonConnection(ann)).ok()) << "at once";
  EXPECT_TRUE(absl::IsAlreadyExists(add()));
  request.set_replaces(true);
  request.set_overlap_ns(3'600'000'000'000);
  ASSERT_TRUE(add().ok());
  EXPECT_TRUE(List(DaemonConnection(ann)).ok()) << "both hold for an hour";
  ann.token = response.token();
  EXPECT_TRUE(List(DaemonConnection(ann)).ok());
  request.set_role("king");
  EXPECT_TRUE(absl::IsInvalidArgument(add()));
  request.set_role("read");
  request.set_name("two\nlines");
  EXPECT_TRUE(absl::IsInvalidArgument(add()));
}

TEST_F(NetworkTest, ARenewedCertificateIsTakenUpWithoutARestart) {
  Start();
  const ServerAddress ann = Grant("ann", "submit");
  ASSERT_TRUE(ListOnceKnown(DaemonConnection(ann)).ok());
  const std::string before = FingerprintOf(ReadFile(tls_.certificate_file).value()).value();
  ASSERT_TRUE(identity_.Renew({"localhost"}, NowS()).ok());
  EXPECT_NE(FingerprintOf(ReadFile(tls_.certificate_file).value()).value(), before);
  EXPECT_EQ(identity_.Fingerprint().value(), address_.certificate) << "the authority is the same";
  EXPECT_TRUE(List(DaemonConnection(ann)).ok());
}

TEST_F(NetworkTest, AClientsCertificateDoesInsteadOfAToken) {
  Identity authority;
  authority.key = ReadFile(folder_.path() + "/tls/authority.key").value();
  authority.certificate = ReadFile(folder_.path() + "/tls/authority.crt").value();
  tls_.client_authority_file = folder_.path() + "/tls/authority.crt";
  ASSERT_TRUE(AddGrantTo(*store_, Clock::Real(),
                         {.name = "board-7", .role = "submit", .is_certificate = true})
                  .ok());
  Start();
  const auto dial = [&](const std::string& name) {
    const Identity client =
        MakeIdentity(authority, {name}, CertificateUse::kClient, NowS(), 1).value();
    DialOptions options;
    options.certificate_file = folder_.path() + "/" + name + ".crt";
    options.key_file = folder_.path() + "/" + name + ".key";
    EXPECT_TRUE(WriteFileAtomically(options.certificate_file, client.certificate).ok());
    EXPECT_TRUE(WriteFileAtomically(options.key_file, client.key).ok());
    return std::make_unique<DaemonConnection>(address_, options);
  };
  EXPECT_TRUE(List(*dial("board-7")).ok());
  EXPECT_EQ(Submit(*dial("board-7"), "c").value().submitter(), "board-7");
  EXPECT_TRUE(absl::IsUnauthenticated(List(*dial("board-8")))) << "nobody granted it anything";
  EXPECT_TRUE(List(DaemonConnection(Grant("ann", "read"))).code() != absl::StatusCode::kUnavailable)
      << "tokens do as before";
}

TEST_F(NetworkTest, FilesThatAreNoIdentityAreRefused) {
  const auto open = [&](const TlsOptions& tls) {
    DaemonOptions options;
    options.socket = folder_.path() + "/run/socket";
    options.tls = tls;
    DaemonParts parts;
    parts.store = store_.get();
    parts.lowerer = &lowerer_;
    parts.builder = std::make_unique<FakeBuilder>(&builder_thread_);
    parts.search = [](const std::string&) { return nullptr; };
    parts.clock = &Clock::Real();
    return Daemon::Start(std::move(options), std::move(parts)).status();
  };
  TlsOptions tls = tls_;
  tls.key_file = folder_.path() + "/tls/authority.key";
  EXPECT_TRUE(absl::IsInvalidArgument(open(tls))) << "another's key";
  tls = tls_;
  tls.certificate_file += "-not";
  EXPECT_TRUE(absl::IsNotFound(open(tls)));
  chmod(tls_.key_file.c_str(), 0644);
  EXPECT_TRUE(absl::IsInvalidArgument(open(tls_))) << "a key that others may read";
}

TEST_F(NetworkTest, AnIdentityIsNotMadeTwice) {
  EXPECT_TRUE(absl::IsFailedPrecondition(identity_.Make({"localhost"}, NowS())));
  EXPECT_GT(identity_.End().value(), NowS() + 364 * 86'400);
}

}  // namespace
}  // namespace hone::tuner
