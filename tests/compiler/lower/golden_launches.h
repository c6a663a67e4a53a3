// Lowered launches beside their golden texts.
#ifndef HONE_TESTS_COMPILER_LOWER_GOLDEN_LAUNCHES_H_
#define HONE_TESTS_COMPILER_LOWER_GOLDEN_LAUNCHES_H_

#include <string>
#include <vector>

#include "compiler/lower/lowered_launch.h"

namespace hone::lower {

// Expects the text of tests/compiler/lower/golden/<name>.txt. HONE_UPDATE_GOLDEN=1 writes the file
// anew.
void ExpectGolden(const std::string& name, const std::vector<LoweredLaunch>& launches);

}  // namespace hone::lower

#endif  // HONE_TESTS_COMPILER_LOWER_GOLDEN_LAUNCHES_H_
