// The runtime's look at a module's file before the loader sees it.
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/elf_check.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone;
  const int fd = memfd_create("module", MFD_CLOEXEC);
  fuzz::Require(fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size),
                "memory for a file");
  std::string fault;
  const auto parts = CheckElf(fd, &fault);
  fuzz::Require(parts ? parts->end <= size : !fault.empty(),
                "segments within the file, or a sentence");
  close(fd);
  return 0;
}
