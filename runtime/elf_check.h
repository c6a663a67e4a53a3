// A look at a shared object before the loader trusts it.
#ifndef HONE_RUNTIME_ELF_CHECK_H_
#define HONE_RUNTIME_ELF_CHECK_H_

#include <string>

namespace hone {

// Whether the open file is a shared object of this machine's architecture with all the bytes its
// headers speak of. The loader maps a cut one all the same and dies of SIGBUS. Otherwise *fault
// continues the sentence "... NAME is".
bool CheckElf(int fd, std::string* fault);

}  // namespace hone

#endif  // HONE_RUNTIME_ELF_CHECK_H_
