// The daemon and its clients agree on where it is.
#include "support/daemon_address.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace hone {
namespace {

TEST(DaemonAddress, IsInAFolderOfItsOwn) {
  setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  EXPECT_EQ(DefaultDaemonSocket(), "/run/user/7/hone/honed.sock");
  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(DefaultDaemonSocket(), "/tmp/hone-" + std::to_string(getuid()) + "/honed.sock");
}

}  // namespace
}  // namespace hone
