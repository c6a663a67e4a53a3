// Who gets through the daemon's door.
#include "tuner/service/unix_listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <future>

namespace hone::tuner {
namespace {

class UnixListenerTest : public ::testing::Test {
 protected:
  ~UnixListenerTest() override { std::filesystem::remove(path_); }

  int Dial() {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("hone-door-" + std::to_string(getpid()))).string();
};

TEST_F(UnixListenerTest, GivesAwayConnectionsOfThisUser) {
  const auto listener = UnixListener::Listen(path_).value();
  const int fd = Dial();  // may come before it serves
  std::promise<std::pair<int, Peer>> taken;
  listener->Serve([&](int connection, const Peer& peer) { taken.set_value({connection, peer}); });
  const auto [connection, peer] = taken.get_future().get();
  EXPECT_EQ(peer.process, getpid());
  EXPECT_EQ(peer.user, getuid());
  EXPECT_EQ(write(connection, "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(fd, &byte, 1), 1);
  close(connection);
  close(fd);
}

TEST_F(UnixListenerTest, ClosesConnectionsOfOthers) {
  const auto listener = UnixListener::Listen(path_).value();
  uid_t seen = 0;
  listener->Serve([](int, const Peer&) { FAIL() << "refused"; },
                  [&](uid_t peer) {
                    seen = peer;
                    return false;
                  });
  const int fd = Dial();
  char byte = 0;
  EXPECT_EQ(read(fd, &byte, 1), 0) << "closed without a word";
  close(fd);
  listener->Stop();
  EXPECT_EQ(seen, geteuid());
}

TEST_F(UnixListenerTest, ServesItsUserAndRoot) {
  EXPECT_TRUE(IsOwnUser(geteuid()));
  EXPECT_TRUE(IsOwnUser(0));
  EXPECT_FALSE(IsOwnUser(geteuid() + 1));
}

TEST_F(UnixListenerTest, IsForItsUserOnlyWhateverTheUmaskIs) {
  const mode_t mask = umask(0);
  auto listener = UnixListener::Listen(path_).value();
  umask(mask);
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  listener.reset();
  EXPECT_NE(stat(path_.c_str(), &info), 0) << "it takes its socket away";
}

}  // namespace
}  // namespace hone::tuner
