// What a damaged header of a module does to the process that opens it.
#ifndef HONE_TESTS_RUNTIME_DAMAGED_HEADERS_H_
#define HONE_TESTS_RUNTIME_DAMAGED_HEADERS_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "runtime/module.h"

namespace hone {

// Opens the module with each byte of its ELF headers changed in turn: it opens all the same or is
// refused with a sentence, and no process dies of it.
inline void ExpectNoDamagedHeaderKills(const std::string& whole) {
  constexpr size_t kHeaderBytes = 64;
  constexpr size_t kSegmentBytes = 56;
  constexpr size_t kSegmentCountAt = 56;
  const size_t end = kHeaderBytes + kSegmentBytes * static_cast<uint8_t>(whole[kSegmentCountAt]);
  for (size_t at = 0; at < end; ++at) {
    const pid_t child = fork();
    if (child == 0) {
      bool ok = true;
      for (const int flip : {0x01, 0x02, 0x04, 0x10, 0x80, 0xFF}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        std::string error;
        ok = ok && (Module::OpenBytes(damaged.data(), damaged.size(), &error) != nullptr ||
                    !error.empty());
      }
      _exit(ok ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "byte " << at;
  }
}

}  // namespace hone

#endif  // HONE_TESTS_RUNTIME_DAMAGED_HEADERS_H_
