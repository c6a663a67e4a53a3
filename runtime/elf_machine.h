// The processor architecture that this program was built for, as ELF files name it.
#ifndef HONE_RUNTIME_ELF_MACHINE_H_
#define HONE_RUNTIME_ELF_MACHINE_H_

#include <elf.h>

namespace hone {

#ifdef __aarch64__
inline constexpr Elf64_Half kElfMachine = EM_AARCH64;
#else
inline constexpr Elf64_Half kElfMachine = EM_X86_64;
#endif

}  // namespace hone

#endif  // HONE_RUNTIME_ELF_MACHINE_H_
