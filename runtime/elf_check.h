// A look at a shared object before the loader trusts it.
#ifndef HONE_RUNTIME_ELF_CHECK_H_
#define HONE_RUNTIME_ELF_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>

namespace hone {

struct ElfParts {
  uint64_t end = 0;       // of the last segment in the file
  bool has_code = false;  // some segment can be executed
};

// Whether the open file is a shared object of this machine's architecture whose segments make sense
// and have all their bytes, and which asks nothing of the loader that compiled modules do not
// (elf_dynamic.h), so that none of its code runs while it is loaded: then what it has. The loader
// maps a cut or damaged one all the same and dies of SIGBUS or SIGSEGV. Otherwise *fault continues
// the sentence
// "... NAME is".
std::optional<ElfParts> CheckElf(int fd, std::string* fault);

}  // namespace hone

#endif  // HONE_RUNTIME_ELF_CHECK_H_
