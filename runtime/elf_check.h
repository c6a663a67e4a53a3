// A look at a shared object before the loader trusts it.
#ifndef HONE_RUNTIME_ELF_CHECK_H_
#define HONE_RUNTIME_ELF_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>

namespace hone {

// Whether the open file is a shared object of this machine's architecture whose segments make sense
// and have all their bytes, and which asks nothing of the loader that compiled modules do not
// (elf_dynamic.h), so that none of its code runs while it is loaded: then where the last of them
// ends in the file. The loader maps a cut or damaged one all the same and dies of SIGBUS or
// SIGSEGV. Otherwise *fault continues the sentence
// "... NAME is".
std::optional<uint64_t> CheckElf(int fd, std::string* fault);

}  // namespace hone

#endif  // HONE_RUNTIME_ELF_CHECK_H_
