// Checks a shared object before it is given to the loader.
#ifndef HONE_RUNTIME_ELF_CHECK_H_
#define HONE_RUNTIME_ELF_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>

namespace hone {

struct ElfParts {
  uint64_t end = 0;       // where the last loaded segment ends in the file, in bytes
  bool has_code = false;  // some segment can be executed
};

// Returns the parts of the open file if it is a well-formed shared object for this machine's
// architecture: its segments make sense and are complete, and it asks of the loader only what
// compiled modules ask (elf_dynamic.h), so that none of its code runs while it is loaded. Otherwise
// returns nullopt, and *fault continues the sentence "... NAME is". Without this check the loader
// would map a truncated or damaged file, and the process would die of SIGBUS or SIGSEGV.
std::optional<ElfParts> CheckElf(int fd, std::string* fault);

}  // namespace hone

#endif  // HONE_RUNTIME_ELF_CHECK_H_
