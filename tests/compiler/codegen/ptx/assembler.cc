#include "tests/compiler/codegen/ptx/assembler.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "gtest/gtest.h"

namespace hone::codegen {

bool HasAssembler() { return std::system("command -v ptxas >/dev/null") == 0; }

std::string AssemblerLog(const std::string& ptx, const std::string& arch) {
  namespace fs = std::filesystem;
  std::string folder = fs::temp_directory_path() / "hone-assembler-XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/code.ptx") << ptx;
  const std::string command =
      fmt::format("ptxas -v -arch={1} -o {0}/code.cubin {0}/code.ptx 2>{0}/log", folder, arch);
  EXPECT_EQ(std::system(command.c_str()), 0) << arch;
  std::stringstream log;
  log << std::ifstream(folder + "/log").rdbuf();
  fs::remove_all(folder);
  return log.str();
}

int SpilledBytes(const std::string& log) {
  std::smatch spilled;
  EXPECT_TRUE(std::regex_search(log, spilled, std::regex("([0-9]+) bytes spill stores"))) << log;
  return spilled.empty() ? 0 : std::stoi(spilled[1]);
}

}  // namespace hone::codegen
