// What a shared object asks of the loader: its dynamic section, relocations and symbols.
#ifndef HONE_RUNTIME_ELF_DYNAMIC_H_
#define HONE_RUNTIME_ELF_DYNAMIC_H_

#include <elf.h>

#include <string>
#include <vector>

namespace hone {

// What follows "... NAME is" where a number in an object cannot be.
inline constexpr const char* kDamagedObject = "damaged; compile it again";

// Empty where the object asks only for what compiled modules do: to be relocated by where it lies,
// and to have its one symbol found. Code that runs while it is loaded (initialisers, indirect
// functions), other objects, writable code and relocations of another kind are not among it.
// Otherwise what follows "... NAME is". `loads` are its loaded segments, `dynamic` lies in one.
std::string CheckDynamic(int fd, const std::vector<Elf64_Phdr>& loads, const Elf64_Phdr& dynamic);

}  // namespace hone

#endif  // HONE_RUNTIME_ELF_DYNAMIC_H_
