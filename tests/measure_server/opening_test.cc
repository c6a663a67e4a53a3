// Devices that the worker finds and its candidates, which may be another user, do or do not open.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "measure_server/contained_device.h"
#include "measure_server/device_files.h"
#include "support/child_process.h"
#include "tests/paths.h"
#include "tests/runtime/c_module.h"

namespace hone::measure {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr int64_t kPatienceNs = 60'000'000'000;
constexpr uid_t kNobody = 65534;

// The worker finds a driver that stands in for NVIDIA's, whose only device is there for those who
// may open a file.
class OpeningTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "candidates are the worker's user";
    chmod((folder_ / "").c_str(), 0711);
    WriteBytes(file_, "");
  }

  // The worker's first line, of its standard output and error.
  std::string FirstLineOf(const std::string& flags, int* status) {
    const std::string command =
        "exec env LD_LIBRARY_PATH=" HONE_TESTS_BIN "/cuda_driver HONE_TEST_CUDA_FILE=" + file_ +
        " " HONE_BIN_DIR "/hone-measure " + flags + " 2>&1";
    absl::StatusOr<ChildProcess> worker = ChildProcess::Start({"/bin/sh", "-c", command});
    EXPECT_TRUE(worker.ok()) << worker.status();
    if (!worker.ok()) return "";
    std::string all;
    for (auto line = worker->ReadLine(kPatienceNs); line.ok();
         line = worker->ReadLine(kPatienceNs)) {
      if (all.empty() || line->find("expected") != std::string::npos) all = *line;
    }
    *status = worker->Stop(kPatienceNs);
    return all;
  }
  nlohmann::json DescribedDevice() {
    int status = -1;
    const nlohmann::json described =
        nlohmann::json::parse(FirstLineOf("--describe", &status), nullptr, false);
    EXPECT_EQ(status, 0);
    for (const nlohmann::json& device : described.value("devices", nlohmann::json::array())) {
      if (device["device"] == "cuda:0") return device;
    }
    ADD_FAILURE() << described;
    return {};
  }

  TestFolder folder_;
  const std::string file_ = folder_ / "device";
};

TEST_F(OpeningTest, ADeviceThatCandidatesMayOpenIsOffered) {
  chmod(file_.c_str(), 0666);
  const nlohmann::json device = DescribedDevice();
  EXPECT_EQ(device["problem"], "");
  EXPECT_THAT(device["driver"].get<std::string>(), HasSubstr("Test Device"));
}

TEST_F(OpeningTest, ADeviceThatCandidatesMayNotOpenIsNot) {
  chmod(file_.c_str(), 0600);
  constexpr char kSentence[] = "expected a device cuda:0 that candidates can open, found: expected";
  EXPECT_THAT(DescribedDevice()["problem"].get<std::string>(), HasSubstr(kSentence));
  int status = 0;
  EXPECT_THAT(FirstLineOf("--device cuda:0 --server unix:/not/there", &status),
              HasSubstr(kSentence));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
}

TEST(DeviceFilesTest, NamesThoseThatTheUserMayNotOpenWithTheirGroup) {
  if (geteuid() != 0) GTEST_SKIP() << "a file of another user takes root";
  TestFolder folder;
  chmod((folder / "").c_str(), 0755);
  mkdir((folder / "dri").c_str(), 0755);
  for (const char* const name : {"dri/renderD128", "kfd", "mali0", "nvidiactl", "card0"}) {
    WriteBytes(folder / name, "");
    chmod((folder / name).c_str(), 0660);
  }
  chmod((folder / "mali0").c_str(), 0666);
  EXPECT_EQ(BarredDeviceFiles(folder / ""), "");  // root's
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
        setresuid(kNobody, kNobody, kNobody) != 0) {
      _exit(1);
    }
    const std::string barred = BarredDeviceFiles(folder / "");
    _exit(write(ends[1], barred.data(), barred.size()) == static_cast<ssize_t>(barred.size()) ? 0
                                                                                              : 1);
  }
  close(ends[1]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  char text[1024] = "";
  EXPECT_GT(read(ends[0], text, sizeof(text) - 1), 0);
  close(ends[0]);
  EXPECT_THAT(std::string(text), MatchesRegex(".*/dri/renderD128 \\(root:root, mode 0660\\), "
                                              ".*/kfd \\(root:root, mode 0660\\), "
                                              ".*/nvidiactl \\(root:root, mode 0660\\)"));
}

}  // namespace
}  // namespace hone::measure
