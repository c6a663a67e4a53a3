// What Compile answers when it refuses.
#include "compiler/driver/compile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "compiler/frontend/zoo/zoo.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

// A database that is locked, say.
class RefusingConfigs : public ConfigSource {
 public:
  absl::StatusOr<std::optional<ConfigChoice>> Find(const schedule::Task&) override {
    return absl::FailedPreconditionError("busy");
  }
};

absl::Status StatusOf(ConfigChain& configs, bool require_tuned) {
  const std::string path = testing::TempDir() + "/hone-driver-" + std::to_string(getpid()) + ".so";
  const absl::Status status =
      Compile(frontend::ZooModel("mlp").value(),
              {.target = HostTarget(), .require_tuned = require_tuned}, configs, path)
          .status();
  std::filesystem::remove(path);
  return status;
}

TEST(Compile, OnlyUntunedKernelsAreNotTuned) {
  ConfigChain defaults;
  EXPECT_TRUE(IsNotTuned(StatusOf(defaults, true)));
  EXPECT_TRUE(StatusOf(defaults, false).ok());
  EXPECT_FALSE(IsNotTuned(absl::OkStatus()));
  ConfigChain busy;
  busy.Add(std::make_unique<RefusingConfigs>());
  const absl::Status status = StatusOf(busy, true);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_FALSE(IsNotTuned(status));
}

}  // namespace
}  // namespace hone::driver
