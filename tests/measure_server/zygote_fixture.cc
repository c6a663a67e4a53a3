#include "tests/measure_server/zygote_fixture.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <optional>

#include "measure_server/driver_files.h"
#include "measure_server/list_devices_apart.h"
#include "support/digest.h"
#include "tests/measure_server/sample_artifacts.h"

namespace hone::measure {
namespace {

using ::testing::HasSubstr;

class ZygoteEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    strict = Start({.level = SandboxLevel::kStrict});
    lenient = Start({.level = SandboxLevel::kLimits});
    impatient = Start({.level = SandboxLevel::kStrict, .patience_ns = 1'000'000});
    forgetful = Start({.level = SandboxLevel::kStrict, .idle_ahead_ns = 0});
    contained_host = Start({.level = SandboxLevel::kContained});
    missing_device = Start({.level = SandboxLevel::kContained, .device = "opencl:99"});
    const auto listed = ListDevicesApart(60'000'000'000);
    if (!listed.ok() || listed->listed.empty()) return;
    auto files = DriverFiles::Make();
    ASSERT_TRUE(files.ok()) << files.status();
    driver_files.emplace(*std::move(files));
    opencl = Start({.level = SandboxLevel::kContained,
                    .device = "opencl:0",
                    .driver_files = driver_files->path()});
  }
  void TearDown() override {
    strict.reset();
    lenient.reset();
    impatient.reset();
    forgetful.reset();
    contained_host.reset();
    missing_device.reset();
    opencl.reset();
    driver_files.reset();
  }

  std::unique_ptr<Zygote> strict;
  std::unique_ptr<Zygote> lenient;
  std::unique_ptr<Zygote> impatient;
  std::unique_ptr<Zygote> forgetful;
  std::unique_ptr<Zygote> contained_host;
  std::unique_ptr<Zygote> missing_device;
  std::optional<DriverFiles> driver_files;
  std::unique_ptr<Zygote> opencl;

 private:
  static std::unique_ptr<Zygote> Start(const Zygote::Options& options) {
    auto zygote = Zygote::Start(options);
    EXPECT_TRUE(zygote.ok()) << zygote.status().ToString();
    return zygote.ok() ? *std::move(zygote) : nullptr;
  }
};

ZygoteEnvironment* const environment =
    static_cast<ZygoteEnvironment*>(testing::AddGlobalTestEnvironment(new ZygoteEnvironment));

}  // namespace

Zygote* StrictZygote() { return environment->strict.get(); }
Zygote* LenientZygote() { return environment->lenient.get(); }
Zygote* ImpatientZygote() { return environment->impatient.get(); }
Zygote* ForgetfulZygote() { return environment->forgetful.get(); }
Zygote* OpenClZygote() { return environment->opencl.get(); }
Zygote* ContainedHostZygote() { return environment->contained_host.get(); }
Zygote* MissingDeviceZygote() { return environment->missing_device.get(); }

std::shared_ptr<const Artifact> ToArtifact(const std::string& source, const std::string& flags) {
  const std::string& bytes = Compiled(source, flags);
  return *Artifact::Make(Sha256Hex(bytes), bytes);
}

ZygoteTest::ZygoteTest() {
  request_.plan = {200'000, 4, 20, 100'000, 0, 0};
  request_.run_limit_ns = 5'000'000'000;
  request_.seed = 7;
}

std::vector<RunReport> ZygoteTest::Run(const std::vector<std::string>& sources,
                                       const std::string& flags) {
  std::vector<std::shared_ptr<const Artifact>> artifacts;
  std::vector<int> fds;
  for (const std::string& source : sources) {
    artifacts.push_back(ToArtifact(source, flags));
    fds.push_back(artifacts.back()->fd());
  }
  const absl::StatusOr<int> reference =
      references_.Get("digest", *ToArtifact(ReferenceSource()), request_.seed, 0);
  EXPECT_TRUE(reference.ok()) << reference.status().ToString();
  if (!reference.ok()) return {};
  request_.candidate_count = static_cast<uint32_t>(fds.size());
  request_.has_reference = 1;
  absl::StatusOr<std::vector<RunReport>> reports = runner_->Run(request_, *reference, fds);
  EXPECT_TRUE(reports.ok()) << reports.status().ToString();
  return reports.ok() ? *std::move(reports) : std::vector<RunReport>();
}

void ZygoteTest::Expect(const std::string& source, RunOutcome outcome, const std::string& message,
                        const std::string& flags) {
  const std::vector<RunReport> reports = Run({source}, flags);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].outcome, outcome) << reports[0].message;
  EXPECT_THAT(std::string(reports[0].message), HasSubstr(message));
}

std::string ZygoteTest::Contents(const Artifact& artifact) {
  std::string bytes(artifact.size_bytes(), 0);
  EXPECT_EQ(pread(artifact.fd(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  return bytes;
}

}  // namespace hone::measure
