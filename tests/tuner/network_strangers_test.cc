// What anybody who can reach the daemon's port may try.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "hone/v1/farm.grpc.pb.h"
#include "tests/tuner/network_fixture.h"
#include "tuner/service/tcp_listener.h"

namespace hone::tuner {
namespace {

class NetworkStrangersTest : public NetworkTest {
 protected:
  // Connections of which nobody says anything, or no more than the first bytes of a hello.
  class HalfOpen {
   public:
    HalfOpen(int port, int count) {
      for (int i = 0; i < count; ++i) {
        const int fd = Dial(port);
        if (fd < 0) break;
        fds_.push_back(fd);
        if (i % 2 == 0) EXPECT_EQ(send(fd, "\x16\x03\x01", 3, MSG_NOSIGNAL), 3);
      }
    }
    ~HalfOpen() {
      for (const int fd : fds_) close(fd);
    }
    size_t count() const { return fds_.size(); }

   private:
    std::vector<int> fds_;
  };

  static int Dial(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  // Whether a handshake comes off in this version of TLS and no other.
  bool Shakes(int version) {
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                               SSL_CTX_free);
    SSL_CTX_set_security_level(context.get(), 0);  // this side would speak whatever it is told to
    SSL_CTX_set_cipher_list(context.get(), "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context.get(), version);
    SSL_CTX_set_max_proto_version(context.get(), version);
    const unsigned char http2[] = {2, 'h', '2'};
    SSL_CTX_set_alpn_protos(context.get(), http2, sizeof(http2));
    const std::unique_ptr<SSL, void (*)(SSL*)> connection(SSL_new(context.get()), SSL_free);
    const int fd = Dial(daemon_->port());
    SSL_set_fd(connection.get(), fd);
    const bool is_through = SSL_connect(connection.get()) == 1;
    close(fd);
    return is_through;
  }
};

// Sets how many descriptors this process may have, for as long as it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = std::min(most, before_.rlim_max);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST_F(NetworkStrangersTest, AThousandHalfOpenConnectionsKeepNobodyOut) {
  const DescriptorLimit limit(4096);
  Start();
  const DaemonConnection ann(Grant("ann", "read"));
  const HalfOpen strangers(daemon_->port(), 1000);
  EXPECT_EQ(strangers.count(), 1000);
  EXPECT_TRUE(ListOnceKnown(ann).ok());
}

// gRPC's own listener is deaf from there on.
TEST_F(NetworkStrangersTest, ConnectionsThatTakeAllDescriptorsKeepOutNobodyWhoComesLater) {
  Start();
  const DaemonConnection ann(Grant("ann", "read"));
  ASSERT_TRUE(ListOnceKnown(ann).ok());
  {
    // The strangers' ends are of this process, too.
    const DescriptorLimit limit(400);
    const HalfOpen strangers(daemon_->port(), 300);
    EXPECT_GT(strangers.count(), 150);
    EXPECT_TRUE(List(ann).ok()) << "who is connected goes on";
  }
  const DaemonConnection again(Grant("bob", "read"));
  EXPECT_TRUE(ListOnceKnown(again).ok());
}

TEST_F(NetworkStrangersTest, TlsBefore12IsRefused) {
  Start();
  EXPECT_TRUE(Shakes(TLS1_3_VERSION));
  EXPECT_TRUE(Shakes(TLS1_2_VERSION));
  EXPECT_FALSE(Shakes(TLS1_1_VERSION));
  EXPECT_FALSE(Shakes(TLS1_VERSION));
}

TEST_F(NetworkStrangersTest, AMessageOverTheLimitEndsItsStream) {
  ServerAddress board = Grant("board", "work");
  Start();
  board.host_port = address_.host_port;
  const DaemonConnection worker(board);
  const auto stub = v1::FarmService::NewStub(worker.channel());
  grpc::ClientContext context;
  const auto stream = stub->Work(&context);
  v1::WorkRequest hello;
  hello.mutable_hello()->set_worker(std::string(size_t{8} << 20, 'w'));
  stream->Write(hello);
  v1::WorkResponse message;
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(NetworkStrangersTest, WhoDoesNotReadItsWatchesHoldsUpNobody) {
  ServerAddress ann = Grant("ann", "submit");
  Start();
  ann.host_port = address_.host_port;
  const DaemonConnection connection(ann);
  const v1::JobInfo job = Submit(connection, "c").value();
  const auto stub = v1::TuningService::NewStub(connection.channel());
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchJobResponse>>> watches;
  for (int i = 0; i < 50; ++i) {
    v1::WatchJobRequest request;
    request.set_id(job.id());
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    watches.push_back(stub->WatchJob(contexts.back().get(), request));
  }
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(Pause(connection, job.id()).ok());
    v1::ResumeJobRequest request;
    request.set_id(job.id());
    v1::ResumeJobResponse response;
    ASSERT_TRUE(
        Call<v1::TuningService>(connection, &v1::TuningService::Stub::ResumeJob, request, &response)
            .ok());
  }
  for (const auto& context : contexts) context->TryCancel();
  EXPECT_TRUE(List(connection).ok());
}

TEST_F(NetworkStrangersTest, PlaintextIsNotAnswered) {
  Start();
  const auto channel = grpc::CreateChannel(address_.host_port, grpc::InsecureChannelCredentials());
  const auto stub = v1::TuningService::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  context.AddMetadata("authorization", "Bearer " + Grant("ann", "admin").token);
  v1::ListJobsResponse response;
  EXPECT_EQ(stub->ListJobs(&context, v1::ListJobsRequest(), &response).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST(TcpListenerTest, ListensAtWhatItIsToldAndSaysWhyNot) {
  const auto any = TcpListener::Listen("0.0.0.0:0");
  ASSERT_TRUE(any.ok()) << any.status();
  EXPECT_GT((*any)->port(), 0);
  const auto named = TcpListener::Listen("localhost:0");
  ASSERT_TRUE(named.ok()) << named.status();
  const auto taken = TcpListener::Listen("localhost:" + std::to_string((*named)->port()));
  EXPECT_TRUE(absl::IsUnavailable(taken.status())) << taken.status();
  for (const char* const none :
       {"localhost", "localhost:", "localhost:70000", "localhost:x", "no such host:1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(TcpListener::Listen(none).status())) << none;
  }
}

}  // namespace
}  // namespace hone::tuner
