#include "transport/server_address.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/scratch_folder.h"

namespace hone {
namespace {

const std::string kDigest(64, 'a');

std::string Join(const std::string& host_port) {
  return "hone://" + host_port + "?certificate=" + kDigest + "&token=secret-1";
}

TEST(ServerAddressTest, ReadsPathsOfUnixSockets) {
  EXPECT_EQ(ParseServerAddress("unix:/run/hone/s").value().socket, "/run/hone/s");
  EXPECT_EQ(ParseServerAddress("unix:s").value().socket, "s");
  EXPECT_EQ(ParseServerAddress("/run/hone/s").value().Name(), "unix:/run/hone/s");
}

TEST(ServerAddressTest, ReadsJoinStringsAndPrintsThemAlike) {
  for (const char* host_port :
       {"farm.example.org:7070", "10.0.0.1:1", "[::1]:65535", "[fe80::1%eth0]:7070"}) {
    const ServerAddress address = ParseServerAddress(Join(host_port)).value();
    EXPECT_EQ(address.host_port, host_port);
    EXPECT_EQ(address.certificate, kDigest);
    EXPECT_EQ(address.token, "secret-1");
    EXPECT_EQ(JoinString(address), Join(host_port));
  }
}

TEST(ServerAddressTest, ATokenMayBeMissingACertificateMayNot) {
  EXPECT_EQ(ParseServerAddress("hone://h:1?certificate=" + kDigest).value().token, "");
  EXPECT_TRUE(absl::IsInvalidArgument(ParseServerAddress("hone://h:1?token=t").status()));
}

TEST(ServerAddressTest, RefusesWhatWouldGoOverANetworkInTheClear) {
  for (const char* text :
       {"", "unix:", "host:7070", "10.0.0.1:7070", "dns:///host:7070", "ipv4:10.0.0.1:7070",
        "http://host:7070", "host", "vsock:1:2", "unix-abstract:name"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseServerAddress(text).status())) << text;
  }
}

TEST(ServerAddressTest, RefusesMalformedJoinStringsWithoutRepeatingTheirSecrets) {
  const std::string good = Join("h:1");
  for (const std::string& text :
       {Join("h"), Join("h:0"), Join("h:65536"), Join("h:x"), Join(":1"), Join("h h:1"),
        Join("::1:1"), Join("u@h:1"), Join("h/x:1"), good + "&x=y", good + "&token=", good + "\n",
        good + "&token=a b", "hone://h:1?certificate=" + kDigest.substr(1) + "&token=secret-1"}) {
    const absl::Status status = ParseServerAddress(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_EQ(status.message().find("secret-1"), std::string::npos) << status;
  }
}

TEST(ServerAddressTest, NamesHoldNoSecrets) {
  EXPECT_EQ(ParseServerAddress(Join("h:1")).value().Name(), "h:1");
}

TEST(ServerAddressTest, AFileOfAJoinStringMustBeItsOwnersAlone) {
  const auto folder = ScratchFolder::Make(testing::TempDir(), "address").value();
  const std::string path = folder.path() + "/join";
  std::ofstream(path) << Join("h:1") << "\n";
  chmod(path.c_str(), 0600);
  EXPECT_EQ(ReadServerAddress("@" + path).value().token, "secret-1");
  chmod(path.c_str(), 0640);
  EXPECT_TRUE(absl::IsPermissionDenied(ReadServerAddress("@" + path).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadServerAddress("@" + path + "-not").status()));
}

}  // namespace
}  // namespace hone
