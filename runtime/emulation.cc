#include "runtime/emulation.h"

#include <elf.h>

#include <cstring>
#include <fstream>

#include "runtime/elf_machine.h"

namespace hone {

bool IsEmulatedBy(const std::string& program) {
  Elf64_Ehdr header{};
  std::ifstream file(program, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header))) return false;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine != kElfMachine;
}

bool IsEmulated() {
  // By the thread's name: emulators put the program that they play in the place of /proc/self/exe.
  static const bool is_emulated = IsEmulatedBy("/proc/thread-self/exe");
  return is_emulated;
}

}  // namespace hone
