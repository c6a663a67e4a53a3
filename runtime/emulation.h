// Tells whether this program runs on a real processor or under an emulator.
#ifndef HONE_RUNTIME_EMULATION_H_
#define HONE_RUNTIME_EMULATION_H_

#include <string>

namespace hone {

// Whether another program, such as qemu-aarch64, emulates the processor that this program was built
// for (docs/decisions/0029). False on a machine that is emulated as a whole: from inside it looks
// like a real one.
bool IsEmulated();

// The same for a process that runs this code, where `program` is the file that the system executes:
// whether that is a program for another architecture. False if the file is no readable program.
bool IsEmulatedBy(const std::string& program);

}  // namespace hone

#endif  // HONE_RUNTIME_EMULATION_H_
