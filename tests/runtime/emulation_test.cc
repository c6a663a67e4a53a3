#include "runtime/emulation.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace hone {
namespace {

// A file that begins as a program for a machine does.
class Program {
 public:
  explicit Program(Elf64_Half machine) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_machine = machine;
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(&header), sizeof(header));
  }
  ~Program() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_ = testing::TempDir() + "hone_emulation_test_program";
};

TEST(Emulation, IsTheWorkOfAProgramForAnotherMachine) {
  EXPECT_TRUE(IsEmulatedBy(Program(EM_S390).path()));
  EXPECT_FALSE(IsEmulatedBy("/proc/self/exe"));
}

TEST(Emulation, IsNotTakenForGrantedWhereNothingIsKnown) {
  EXPECT_FALSE(IsEmulatedBy("/proc/no-such-program"));
  EXPECT_FALSE(IsEmulatedBy("/proc/self/comm"));
}

}  // namespace
}  // namespace hone
