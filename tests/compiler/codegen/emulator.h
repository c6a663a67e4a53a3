// Runs artifacts for AArch64 on a machine that is none, by qemu-aarch64-static and a small program
// that aarch64-linux-gnu-gcc builds when the first test asks.
#ifndef HONE_TESTS_COMPILER_CODEGEN_EMULATOR_H_
#define HONE_TESTS_COMPILER_CODEGEN_EMULATOR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/ir/cpu_target.h"

namespace hone::codegen {

// Whether code for the target has to be emulated here.
bool NeedsEmulator(const CpuTarget& target);
// Whether this machine has what that takes; tests are skipped, with the message, where it has not.
bool HasEmulator();
inline constexpr char kNoEmulator[] =
    "no qemu-aarch64-static or aarch64-linux-gnu-gcc: scripts/install-deps installs them";

struct BufferBytes {
  void* data = nullptr;
  size_t bytes = 0;
};

// Runs the launches of kernel 0 on copies of the buffers, with pages around them that cannot be
// touched, and writes back what they hold then. What went wrong; empty if nothing did.
std::string RunEmulated(const std::string& elf, const std::vector<BufferBytes>& buffers);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_EMULATOR_H_
