// The runtime on AArch64, under qemu: what it says of the machine, and what a model computes there.
// It is built by a cross compiler with that one's own libraries, so no sysroot is needed.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

namespace fs = std::filesystem;

constexpr const char* kEmulator = "qemu-aarch64-static -L /usr/aarch64-linux-gnu";

constexpr const char* kTellHost = R"(
#include <cstdio>
#include "runtime/host.h"
int main() { std::fputs(hone::HostTargetText(1).c_str(), stdout); }
)";

bool Succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

bool Has(const std::string& program) {
  return Succeeds(fmt::format("command -v {} >/dev/null", program));
}

class AArch64Runtime : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!Has("qemu-aarch64-static") || !Has("aarch64-linux-gnu-g++")) return;
    folder_ = std::make_unique<TestFolder>();
    WriteFile(*folder_ / "tell_host.cc", kTellHost);
    std::string sources;
    for (const auto& entry : fs::recursive_directory_iterator(HONE_SOURCE_DIR "/runtime")) {
      if (entry.path().extension() == ".cc") sources += entry.path().string() + "\n";
    }
    WriteFile(*folder_ / "sources", sources);
    const std::string build = fmt::format(
        "cd {0} && xargs -P 2 -n 4 aarch64-linux-gnu-g++ -c -std=c++20 -O1 -I{1} "
        "-DHONE_VERSION='\"test\"' <sources && aarch64-linux-gnu-ar rcs libruntime.a *.o && "
        "aarch64-linux-gnu-g++ -std=c++20 -I{1} tell_host.cc libruntime.a -o tell_host && "
        "aarch64-linux-gnu-gcc -c -I{1} {1}/tests/runtime/run_model.c -o run_model.o && "
        "aarch64-linux-gnu-g++ run_model.o libruntime.a -o run_model && "
        "cc -I{1} {1}/tests/runtime/run_model.c -o run_model_here -L{2} -lhone_runtime "
        "-Wl,-rpath,{2}",
        folder_->path().string(), HONE_SOURCE_DIR, HONE_BIN_DIR "/../python/hone");
    is_built_ = Succeeds(build);
  }
  static void TearDownTestSuite() { folder_.reset(); }

  void SetUp() override {
    if (folder_ == nullptr) {
      GTEST_SKIP() << "qemu-aarch64-static or aarch64-linux-gnu-g++ is not installed; "
                      "scripts/install-deps brings them";
    }
    ASSERT_TRUE(is_built_);
  }

  static bool Emulate(const std::string& command) {
    return Succeeds(fmt::format("cd {} && {} {}", folder_->path().string(), kEmulator, command));
  }
  // What the runtime says of a machine with this core.
  static std::string TargetOn(const std::string& core) {
    EXPECT_TRUE(Emulate(fmt::format("-cpu {} ./tell_host >text", core)));
    return ReadFile(*folder_ / "text");
  }
  // What the zoo's MLP gives for an image, compiled for the target and run by `command`.
  static std::vector<float> OutputOn(const std::string& target, const std::string& command) {
    std::vector<float> image(28 * 28);
    for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 11) / 11;
    WriteFile(*folder_ / "image",
              {reinterpret_cast<const char*>(image.data()), image.size() * sizeof(float)});
    EXPECT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_->path()).exit_code, 0);
    const Finished compiled =
        RunHone({"compile", "mlp.onnx", "-o", "mlp.so", "--target", target}, folder_->path());
    EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
    EXPECT_TRUE(Succeeds(
        fmt::format("cd {} && {} mlp.so image output", folder_->path().string(), command)));
    const std::string bytes = ReadFile(*folder_ / "output");
    std::vector<float> output(bytes.size() / sizeof(float));
    std::memcpy(output.data(), bytes.data(), output.size() * sizeof(float));
    return output;
  }

  static inline std::unique_ptr<TestFolder> folder_;
  static inline bool is_built_ = false;
};

TEST_F(AArch64Runtime, FindsWhatTheCoreHas) {
  EXPECT_THAT(
      TargetOn("cortex-a72"),
      HasSubstr("-mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+crc,+fp-armv8,+neon "));
  EXPECT_THAT(TargetOn("neoverse-n1"),
              HasSubstr("-mcpu=neoverse-n1 "
                        "-mattr=+crc,+dotprod,+fp-armv8,+fullfp16,+lse,+neon "));
  EXPECT_THAT(TargetOn("a64fx"),
              HasSubstr("-mcpu=a64fx -mattr=+crc,+fp-armv8,+fullfp16,+lse,+neon,+sve "));
  EXPECT_THAT(TargetOn("max"), HasSubstr("-mcpu=generic -mattr=+bf16,+crc,+dotprod,+fp-armv8,"
                                         "+fullfp16,+i8mm,+lse,+neon,+sve,+sve2 "));
}

TEST_F(AArch64Runtime, FindsThatItIsEmulated) {
  EXPECT_THAT(TargetOn("max"), HasSubstr(" -emulated=yes -threads=1"));
}

TEST_F(AArch64Runtime, ComputesWhatThisMachineComputes) {
  const std::vector<float> here = OutputOn("native", "./run_model_here");
  ASSERT_EQ(here.size(), 10u);
  for (const char* core : {"cortex-a72", "max"}) {
    const std::vector<float> there =
        OutputOn(TargetOn(core), fmt::format("{} -cpu {} ./run_model", kEmulator, core));
    EXPECT_THAT(there, Pointwise(FloatNear(1e-5f), here)) << core;
  }
}

TEST_F(AArch64Runtime, RefusesAModelForAnotherCore) {
  OutputOn(TargetOn("max"), fmt::format("{} -cpu max ./run_model", kEmulator));
  EXPECT_FALSE(Emulate("-cpu cortex-a72 ./run_model mlp.so image output 2>refused"));
  EXPECT_THAT(ReadFile(*folder_ / "refused"), HasSubstr("bf16"));
}

}  // namespace
}  // namespace hone::cli
