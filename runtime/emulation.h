// Tells whether this program runs on a real processor or under an emulator.
#ifndef HONE_RUNTIME_EMULATION_H_
#define HONE_RUNTIME_EMULATION_H_

#include <string>

namespace hone {

// Whether another program, such as qemu-aarch64, emulates the processor that this program was built
// for (docs/decisions/0029). False on a machine that is emulated as a whole: from inside it looks
// like a real one.
bool IsEmulated();

// Whether `program`, the file that the system executes for this process, is an ELF file for another
// architecture, and so an emulator. False if it is not a readable ELF file.
bool IsEmulatedBy(const std::string& program);

}  // namespace hone

#endif  // HONE_RUNTIME_EMULATION_H_
