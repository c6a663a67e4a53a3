// Whose a worker's name is, between processes of two users.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "hone/v1/farm.grpc.pb.h"
#include "support/child_process.h"
#include "support/clock.h"
#include "tests/paths.h"
#include "tests/tuner/fakes.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;

class Names : public testing::Test {
 protected:
  Names() : folder_(fs::temp_directory_path() / ("hone-names-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
  }
  ~Names() override { fs::remove_all(folder_); }

  std::string Address() const { return "unix:" + (folder_ / "socket").string(); }
  // A daemon that nobody runs: it serves nobody and root.
  ChildProcess StartDaemon() {
    EXPECT_EQ(chown(folder_.c_str(), kNobody, kNobody), 0);
    ChildProcess daemon = StartAsNobody(
        {HONE_TESTS_BIN "/fake_honed", (folder_ / "db").string(), (folder_ / "socket").string()});
    EXPECT_TRUE(daemon.ReadLine(60 * kSecondNs).ok());
    stub_ = v1::FarmService::NewStub(
        grpc::CreateChannel(Address(), grpc::InsecureChannelCredentials()));
    return daemon;
  }
  ChildProcess StartNobodysWorker() {
    return StartAsNobody({HONE_TESTS_BIN "/fake_worker", Address(), "w"});
  }
  static ChildProcess StartAsNobody(std::vector<std::string> command) {
    command.insert(command.begin(),
                   {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"});
    absl::StatusOr<ChildProcess> child = ChildProcess::Start(command);
    EXPECT_TRUE(child.ok()) << child.status();
    return *std::move(child);
  }

  // How a stream of ours ends that says Hello under this name.
  grpc::Status Dial(const std::string& name, const std::string& instance) {
    grpc::ClientContext context;
    const auto stream = stub_->Work(&context);
    v1::WorkRequest message;
    *message.mutable_hello() = FakeWorker(name, nullptr).HelloMessage();
    message.mutable_hello()->set_instance(instance);
    stream->Write(message);
    v1::WorkResponse answer;
    if (stream->Read(&answer) && answer.has_welcome()) context.TryCancel();
    while (stream->Read(&answer)) {
    }
    return stream->Finish();
  }
  // Who is connected; waits until that are so many.
  std::vector<v1::WorkerInfo> Workers(int count) {
    for (int tries = 0; tries < 3000; ++tries) {
      grpc::ClientContext context;
      v1::ListWorkersResponse list;
      if (stub_->ListWorkers(&context, {}, &list).ok() && list.workers_size() == count) {
        return {list.workers().begin(), list.workers().end()};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "there are never " << count;
    return std::vector<v1::WorkerInfo>(static_cast<size_t>(count));
  }

  const fs::path folder_;
  std::unique_ptr<v1::FarmService::Stub> stub_;
};

TEST_F(Names, AreOfTheUserWhoDialledUnderThemFirst) {
  if (geteuid() != 0) GTEST_SKIP() << "two users take root";
  if (access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "there is no setpriv";
  ChildProcess probe = StartAsNobody({"/usr/bin/test", "-x", HONE_TESTS_BIN "/fake_honed"});
  EXPECT_FALSE(probe.ReadLine(60 * kSecondNs).ok());
  if (probe.Stop(kSecondNs) != 0) GTEST_SKIP() << "nobody may not enter the build's folder";
  const ChildProcess daemon = StartDaemon();
  {
    const ChildProcess worker = StartNobodysWorker();
    EXPECT_EQ(Workers(1)[0].identity(), "uid:65534");
    const grpc::Status refused = Dial("w", "another");
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_THAT(refused.error_message(),
                HasSubstr("the name w is of a worker of uid:65534, and uid:0 dials"));
    EXPECT_EQ(Dial("ours", "another").error_code(), grpc::StatusCode::CANCELLED)
        << "a name of its own is let in";
  }
  Workers(0);
  EXPECT_EQ(Dial("w", "another").error_code(), grpc::StatusCode::PERMISSION_DENIED)
      << "also while its worker is away";
  const ChildProcess successor = StartNobodysWorker();
  EXPECT_EQ(Workers(1)[0].worker(), "w") << "another instance of its user takes it over";
}

TEST_F(Names, ALiveOneIsNotTakenByAnotherInstanceOfItsUser) {
  absl::StatusOr<ChildProcess> daemon = ChildProcess::Start(
      {HONE_TESTS_BIN "/fake_honed", (folder_ / "db").string(), (folder_ / "socket").string()});
  ASSERT_TRUE(daemon.ok() && daemon->ReadLine(60 * kSecondNs).ok());
  stub_ =
      v1::FarmService::NewStub(grpc::CreateChannel(Address(), grpc::InsecureChannelCredentials()));
  absl::StatusOr<ChildProcess> worker =
      ChildProcess::Start({HONE_TESTS_BIN "/fake_worker", Address(), "w"});
  ASSERT_TRUE(worker.ok());
  EXPECT_EQ(Workers(1)[0].identity(), "uid:" + std::to_string(geteuid()));
  const grpc::Status refused = Dial("w", "another");
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(refused.error_message(), HasSubstr("--name"));
  EXPECT_EQ(worker->Stop(0) != -1, true);
  Workers(0);
  EXPECT_EQ(Dial("w", "another").error_code(), grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace hone::tuner
