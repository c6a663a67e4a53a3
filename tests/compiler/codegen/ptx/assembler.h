// What NVIDIA's assembler says of code, where it is installed.
#ifndef HONE_TESTS_COMPILER_CODEGEN_PTX_ASSEMBLER_H_
#define HONE_TESTS_COMPILER_CODEGEN_PTX_ASSEMBLER_H_

#include <string>

namespace hone::codegen {

bool HasAssembler();
// What a test says that is skipped without it.
inline constexpr char kNoAssembler[] = "no ptxas: scripts/install-deps installs it from PyPI";

// Its log of the code's registers, and of what it warns of. The test fails where it refuses the
// code.
std::string AssemblerLog(const std::string& ptx, const std::string& arch);

// The bytes that a thread of the first kernel spills; the test fails where the log has no kernel.
int SpilledBytes(const std::string& log);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_PTX_ASSEMBLER_H_
