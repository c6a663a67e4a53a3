#include "tests/compiler/lower/golden_launches.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "tests/paths.h"

namespace hone::lower {

void ExpectGolden(const std::string& name, const std::vector<LoweredLaunch>& launches) {
  std::string text;
  for (const LoweredLaunch& launch : launches) text += ToText(launch);
  const std::string path = HONE_SOURCE_DIR "/tests/compiler/lower/golden/" + name + ".txt";
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "HONE_UPDATE_GOLDEN=1 writes " << path;
}

}  // namespace hone::lower
