// What a service manager is told.
#include "support/service_manager.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "support/scratch_folder.h"

namespace hone {
namespace {

// The socket of a service manager, at a path or (with a leading '@') under an abstract name.
class Manager {
 public:
  explicit Manager(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~Manager() {
    unsetenv("NOTIFY_SOCKET");
    close(fd_);
  }
  std::string Heard() const {
    std::array<char, 256> text;
    const ssize_t size = recv(fd_, text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text.data(), static_cast<size_t>(size));
  }

 private:
  const int fd_;
};

TEST(ServiceManager, IsToldAtItsSocket) {
  const ScratchFolder folder = ScratchFolder::Make(testing::TempDir(), "notify").value();
  const Manager manager(folder.path() + "/socket");
  EXPECT_TRUE(TellServiceManager("READY=1\nSTATUS=serves"));
  EXPECT_EQ(manager.Heard(), "READY=1\nSTATUS=serves");
}

TEST(ServiceManager, IsToldAtAnAbstractName) {
  const Manager manager("@hone-test-" + std::to_string(getpid()));
  EXPECT_TRUE(TellServiceManager("STOPPING=1"));
  EXPECT_EQ(manager.Heard(), "STOPPING=1");
}

TEST(ServiceManager, IsNotToldWhereNoneAsked) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_FALSE(TellServiceManager("READY=1"));
  for (const std::string& name :
       {std::string("relative"), std::string("/not/there"), "/" + std::string(200, 'x')}) {
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_FALSE(TellServiceManager("READY=1")) << name;
  }
  unsetenv("NOTIFY_SOCKET");
}

TEST(ServiceManager, AsksOneProcessForBeats) {
  unsetenv("WATCHDOG_PID");
  setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(WatchdogIntervalNs(), 30'000'000'000);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  EXPECT_EQ(WatchdogIntervalNs(), 30'000'000'000);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(WatchdogIntervalNs(), 0) << "another";
  unsetenv("WATCHDOG_PID");
  setenv("WATCHDOG_USEC", "soon", 1);
  EXPECT_EQ(WatchdogIntervalNs(), 0);
  unsetenv("WATCHDOG_USEC");
  EXPECT_EQ(WatchdogIntervalNs(), 0);
}

}  // namespace
}  // namespace hone
