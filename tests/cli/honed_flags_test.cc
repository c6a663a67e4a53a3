// What honed makes of a file of flags.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "support/child_process.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

constexpr int64_t kLimitNs = 60'000'000'000;

class HonedFlags : public ::testing::Test {
 protected:
  absl::StatusOr<ChildProcess> Start(const std::string& flags) {
    WriteFile(folder_ / "flags", flags);
    const std::string honed = HONE_BIN_DIR "/honed";
    return ChildProcess::Start(
        {honed, "--memory", "--socket", folder_ / "socket", "--config", folder_ / "flags"});
  }

  // The exit code of `honed health`.
  int Health(std::string* said = nullptr) {
    auto health =
        ChildProcess::Start({HONE_BIN_DIR "/honed", "health", "--socket", folder_ / "socket"});
    EXPECT_TRUE(health.ok()) << health.status();
    const auto line = health->ReadLine(kLimitNs);
    if (said != nullptr && line.ok()) *said = *line;
    EXPECT_TRUE(Eventually([&] { return health->HasEnded(); }));
    return WEXITSTATUS(health->Stop(kLimitNs));
  }

  TestFolder folder_;
};

TEST_F(HonedFlags, HealthIsThatOfTheDaemonAtTheSocket) {
  EXPECT_EQ(Health(), 5);
  auto honed = Start("");
  ASSERT_TRUE(honed.ok()) << honed.status();
  ASSERT_TRUE(honed->ReadLine(kLimitNs).ok());
  std::string said;
  EXPECT_EQ(Health(&said), 0);
  EXPECT_EQ(said, "serving, workers: 0");
  honed->Stop(kLimitNs);
  EXPECT_EQ(Health(), 5);
}

// A `hone tune` that was killed while its daemon began.
TEST_F(HonedFlags, ADaemonWhoseParentIsGoneLeavesNoFolder) {
  const std::filesystem::path run = folder_ / "run";
  std::filesystem::create_directory(run);
  auto honed = ChildProcess::Start({HONE_BIN_DIR "/honed", "--embedded", "--memory", "--socket",
                                    run / "socket", "--parent-death-signal", "--parent",
                                    std::to_string(getpid() + 1)});
  ASSERT_TRUE(honed.ok()) << honed.status();
  EXPECT_TRUE(Eventually([&] { return honed->HasEnded(); }));
  EXPECT_FALSE(std::filesystem::exists(run));
}

TEST_F(HonedFlags, AreReadFromTheFile) {
  auto honed = Start("builders = 2\nlog-level = \"error\"\n");
  ASSERT_TRUE(honed.ok()) << honed.status();
  const auto ready = honed->ReadLine(kLimitNs);
  ASSERT_TRUE(ready.ok()) << ready.status();
  EXPECT_EQ(*ready, "ready unix:" + (folder_ / "socket"));
}

TEST_F(HonedFlags, AreRefusedWhereTheyAreNone) {
  for (const char* flags : {"buildres = 2\n", "builders = many\n", "log-level = loud\n"}) {
    auto honed = Start(flags);
    ASSERT_TRUE(honed.ok()) << honed.status();
    EXPECT_FALSE(honed->ReadLine(kLimitNs).ok()) << flags;
    const int status = honed->Stop(kLimitNs);
    EXPECT_TRUE(WIFEXITED(status)) << flags;
    EXPECT_EQ(WEXITSTATUS(status), 2) << flags;
  }
}

}  // namespace
}  // namespace hone::cli
