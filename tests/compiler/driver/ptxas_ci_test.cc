// The code for GPUs of NVIDIA assembles for the oldest and the newest architecture that CI asks
// for, and keeps its values in registers.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::driver {
namespace {

namespace fs = std::filesystem;

// A kernel that has just more values than the assembler gives it registers.
constexpr int kMostSpilledBytes = 16;

class AssembledZoo
    : public ::testing::TestWithParam<std::tuple<std::string, frontend::SmallModel>> {
 protected:
  void SetUp() override {
    if (std::system("command -v ptxas >/dev/null") != 0) {
      GTEST_SKIP() << "no ptxas: scripts/install-deps installs it from PyPI";
    }
    std::string name = fs::temp_directory_path() / "hone-ptxas-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  // What the assembler says of the code.
  std::string Assemble(const std::string& ptx, const std::string& arch) const {
    std::ofstream(folder_ / "code.ptx") << ptx;
    const std::string command = fmt::format(
        "ptxas -v -arch={1} -o {0}/code.cubin {0}/code.ptx 2>{0}/log", folder_.string(), arch);
    EXPECT_EQ(std::system(command.c_str()), 0) << arch;
    std::ifstream file(folder_ / "log");
    std::stringstream log;
    log << file.rdbuf();
    return log.str();
  }

 private:
  fs::path folder_;
};

int MostSpilledBytes(const std::string& log) {
  const std::regex spill("([0-9]+) bytes spill stores");
  int most = 0;
  for (auto it = std::sregex_iterator(log.begin(), log.end(), spill); it != std::sregex_iterator();
       ++it) {
    most = std::max(most, std::stoi((*it)[1]));
  }
  return most;
}

TEST_P(AssembledZoo, HasNoSpills) {
  const auto& [arch, model] = GetParam();
  const absl::StatusOr<Compiled> compiled = Compiled::Make(
      model.Build(), {.target = *Target::Parse("cuda -arch=" + arch), .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  ASSERT_GT(compiled->table().code_count, 0);
  for (uint32_t c = 0; c < compiled->table().code_count; ++c) {
    const std::string log = Assemble(compiled->table().codes[c].bytes, arch);
    EXPECT_NE(log.find("Compiling entry function"), std::string::npos) << log;
    EXPECT_LE(MostSpilledBytes(log), kMostSpilledBytes) << log;
  }
}

INSTANTIATE_TEST_SUITE_P(Small, AssembledZoo,
                         ::testing::Combine(::testing::Values("sm_80", "sm_90a"),
                                            ::testing::ValuesIn(frontend::SmallZoo())),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" +
                                  std::string(std::get<1>(info.param).name);
                         });

}  // namespace
}  // namespace hone::driver
