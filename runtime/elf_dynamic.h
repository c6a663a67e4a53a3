// Checks what a shared object asks of the loader: its dynamic section, relocations and symbols.
#ifndef HONE_RUNTIME_ELF_DYNAMIC_H_
#define HONE_RUNTIME_ELF_DYNAMIC_H_

#include <elf.h>

#include <string>
#include <vector>

namespace hone {

// What follows "... NAME is" in the error if a number in an object makes no sense.
inline constexpr const char* kDamagedObject = "damaged; compile it again";

// Returns "" if the object asks only for what compiled modules ask: to be relocated relative to its
// load address, and to have its one symbol found. It may not ask for code that runs while it is
// loaded (initialisers, indirect functions), for other objects, for writable code or for other
// kinds of relocations. Otherwise returns what follows "... NAME is". `loads` are the object's
// loaded segments; `dynamic` lies in one of them.
std::string CheckDynamic(int fd, const std::vector<Elf64_Phdr>& loads, const Elf64_Phdr& dynamic);

}  // namespace hone

#endif  // HONE_RUNTIME_ELF_DYNAMIC_H_
