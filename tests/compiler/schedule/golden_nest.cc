#include "tests/compiler/schedule/golden_nest.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/paths.h"

namespace hone::schedule {

void ExpectGolden(const std::string& name, const loop::Nest& naive, const loop::Nest& nest,
                  double tolerance) {
  ExpectSameResults(naive, nest, 7, name, tolerance);
  const std::string path = HONE_SOURCE_DIR "/tests/compiler/schedule/golden/" + name + ".txt";
  const std::string text = loop::ToText(nest);
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "HONE_UPDATE_GOLDEN=1 writes " << path;
}

}  // namespace hone::schedule
