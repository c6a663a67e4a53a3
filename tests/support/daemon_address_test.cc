// The daemon and its clients agree on where it is.
#include "support/daemon_address.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

namespace hone {
namespace {

namespace fs = std::filesystem;

TEST(DaemonAddress, IsInAFolderOfItsOwn) {
  setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  EXPECT_EQ(DefaultDaemonSocket(), "/run/user/7/hone/honed.sock");
  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(DefaultDaemonSocket(), "/tmp/hone-" + std::to_string(getuid()) + "/honed.sock");
}

TEST(DaemonAddress, IsNotDialledInAFolderThatOthersCouldHaveMade) {
  const fs::path base = fs::path(testing::TempDir()) / ("address-" + std::to_string(getpid()));
  const fs::path folder = base / "hone";
  fs::create_directories(base);
  setenv("XDG_RUNTIME_DIR", base.c_str(), 1);
  EXPECT_EQ(DialableDefaultSocket().value(), folder / "honed.sock") << "nobody is there";
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all);
  EXPECT_TRUE(DialableDefaultSocket().ok());
  fs::permissions(folder, fs::perms::owner_all | fs::perms::others_exec);
  EXPECT_TRUE(absl::IsPermissionDenied(DialableDefaultSocket().status()));
  fs::permissions(folder, fs::perms::owner_all);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
    const absl::Status of_another = DialableDefaultSocket().status();
    EXPECT_TRUE(absl::IsPermissionDenied(of_another));
    EXPECT_NE(of_another.message().find("of user 65534"), absl::string_view::npos) << of_another;
  }
  fs::remove(folder);
  fs::create_directory(base / "elsewhere");
  fs::permissions(base / "elsewhere", fs::perms::owner_all);
  fs::create_directory_symlink(base / "elsewhere", folder);
  EXPECT_TRUE(absl::IsPermissionDenied(DialableDefaultSocket().status()));
  unsetenv("XDG_RUNTIME_DIR");
  fs::remove_all(base);
}

}  // namespace
}  // namespace hone
