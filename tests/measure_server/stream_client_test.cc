// The worker's stream to a daemon that a test plays.
#include "measure_server/stream_client.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/measure_server/fake_daemon.h"
#include "tests/runtime/c_module.h"

namespace hone::measure {
namespace {

// A worker that dials three times what it takes for gone.
void DialThrice(const std::string& address, FakeDaemon& daemon) {
  Router router({}, &Clock::Real());
  StreamOptions options;
  options.welcome_limit_ns = 20'000'000;
  options.first_backoff_ns = 1'000'000;
  std::thread streams(
      [&] { EXPECT_TRUE(RunStreams(ParseServerAddress(address).value(), &router, options).ok()); });
  for (int stream = 0; stream < 3; ++stream) {
    EXPECT_TRUE(daemon.ReceiveWhere([](const auto& message) { return message.has_hello(); }));
  }
  router.Stop();
  streams.join();
}

TEST(StreamClientTest, DialsAgainWhereItIsNotWelcomedInTime) {
  const TestFolder folder;
  const std::string address = "unix:" + (folder / "socket");
  FakeDaemon daemon(address);
  daemon.BeMute();
  DialThrice(address, daemon);
}

TEST(StreamClientTest, DialsAgainWhereTheDaemonSaysNothingForTooLong) {
  const TestFolder folder;
  const std::string address = "unix:" + (folder / "socket");
  FakeDaemon daemon(address);
  daemon.SetHeartbeats(5'000'000, 20'000'000);
  DialThrice(address, daemon);
}

TEST(StreamClientTest, LeavesWhereTheDaemonSaysThatItWillNotDo) {
  const TestFolder folder;
  const std::string address = "unix:" + (folder / "socket");
  FakeDaemon daemon(address);
  for (const absl::StatusCode code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kFailedPrecondition,
        absl::StatusCode::kPermissionDenied, absl::StatusCode::kUnauthenticated}) {
    daemon.Refuse(absl::Status(code, "what was said will not do"));
    Router router({}, &Clock::Real());
    EXPECT_EQ(RunStreams(ParseServerAddress(address).value(), &router, {}).code(), code);
  }
  EXPECT_EQ(daemon.refused(), 4);
}

}  // namespace
}  // namespace hone::measure
