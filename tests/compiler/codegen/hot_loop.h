// The loop of a kernel's assembly that its time goes into.
#ifndef HONE_TESTS_COMPILER_CODEGEN_HOT_LOOP_H_
#define HONE_TESTS_COMPILER_CODEGEN_HOT_LOOP_H_

#include <string>
#include <vector>

namespace hone::codegen {

// The lines of the innermost loop with the most instructions `fma`: from a label to the branch
// back.
std::vector<std::string> HotLoop(const std::string& assembly, const std::string& fma);

// How many lines have all of these words in them.
int CountLines(const std::vector<std::string>& lines, const std::vector<std::string>& words);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_HOT_LOOP_H_
