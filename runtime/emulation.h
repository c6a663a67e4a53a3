// Whether a processor runs this program, or an emulator of one does.
#ifndef HONE_RUNTIME_EMULATION_H_
#define HONE_RUNTIME_EMULATION_H_

#include <string>

namespace hone {

// Whether another program, such as qemu-aarch64, plays the processor that this one was built for
// (docs/decisions/0029). A machine that is emulated as a whole looks like a real one from inside.
bool IsEmulated();

// The same, of a process in which the system executes the program of this file. False where the
// file is no readable program, for then nothing speaks for an emulator.
bool IsEmulatedBy(const std::string& program);

}  // namespace hone

#endif  // HONE_RUNTIME_EMULATION_H_
