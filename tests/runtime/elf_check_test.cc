// Objects that would have the loader do more than it does for a compiled module.
#include "runtime/elf_check.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "tests/runtime/c_module.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

constexpr char kPlain[] = R"(
static const int number = 3;
static const int* const pointer = &number;
__attribute__((visibility("default"))) const int* const* const hone_module_v1 = &pointer;
int code(int a) { return a; }
)";

std::string FaultOf(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string fault;
  const bool is_sound = CheckElf(fd, &fault).has_value();
  close(fd);
  EXPECT_EQ(is_sound, fault.empty());
  return fault;
}

class ElfCheckTest : public testing::Test {
 protected:
  std::string FaultOfC(const std::string& more, const std::string& flags = "") {
    return FaultOf(CompileC(folder_, "module", kPlain + more, flags));
  }
  const TestFolder folder_;
};

TEST_F(ElfCheckTest, AcceptsDataThatPointsToData) { EXPECT_EQ(FaultOfC(""), ""); }

TEST_F(ElfCheckTest, RefusesCodeThatRunsWhenItIsLoadedOrClosed) {
  EXPECT_THAT(
      FaultOfC("volatile int ran; __attribute__((constructor)) static void f(void) { ran = 1; }"),
      HasSubstr("run when it is loaded (DT_INIT_ARRAY)"));
  EXPECT_THAT(
      FaultOfC("volatile int ran; __attribute__((destructor)) static void f(void) { ran = 1; }"),
      HasSubstr("run when it is closed (DT_FINI_ARRAY)"));
  EXPECT_THAT(FaultOfC("void f(void) {}", "-Wl,-init,f"), HasSubstr("(DT_INIT)"));
  EXPECT_THAT(FaultOfC("void f(void) {}", "-Wl,-fini,f"), HasSubstr("(DT_FINI)"));
}

TEST_F(ElfCheckTest, RefusesIndirectFunctions) {
  const std::string indirect =
      "static void g(void) {} static void* pick(void) { return g; }"
      "__attribute__((ifunc(\"pick\"))) void f(void);";
  EXPECT_THAT(FaultOfC(indirect), HasSubstr("a symbol of type 10"));
  EXPECT_THAT(FaultOfC(indirect + "void h(void) { f(); }", "-fvisibility=hidden"),
              HasSubstr("which no compiled module has"));
}

TEST_F(ElfCheckTest, RefusesOtherObjectsAndTheirSymbols) {
  const std::string other = CompileC(folder_, "other", "int there;");
  EXPECT_THAT(FaultOfC("", "-Wl,--no-as-needed " + other), HasSubstr("(DT_NEEDED)"));
  EXPECT_THAT(FaultOfC("extern int there; int* at = &there;"), HasSubstr("a relocation of type"));
}

TEST_F(ElfCheckTest, RefusesRelocationsInCode) {
  EXPECT_THAT(FaultOfC("__attribute__((section(\".text\"))) const int* const in_code = &number;",
                       "-Wl,-z,notext"),
              HasSubstr("(DT_TEXTREL)"));
}

TEST_F(ElfCheckTest, RefusesAnExecutableStackAndWritableCode) {
  EXPECT_THAT(FaultOfC("", "-Wl,-z,execstack"), HasSubstr("an executable stack"));
  EXPECT_THAT(FaultOfC("int data = 4;", "-Wl,--omagic"), HasSubstr("code that can be written"));
}

// Every byte of the file, changed: found to be sound or refused with a sentence, and no more read
// than there is.
TEST_F(ElfCheckTest, ADamagedByteIsRefusedOrHarmless) {
  const std::string whole = ReadBytes(CompileC(folder_, "module", kPlain));
  const int fd = memfd_create("module", MFD_CLOEXEC);
  ASSERT_EQ(write(fd, whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x08, 0x80, 0xFF}) {
      const char damaged = static_cast<char>(whole[at] ^ flip);
      ASSERT_EQ(pwrite(fd, &damaged, 1, static_cast<off_t>(at)), 1);
      std::string fault;
      const auto parts = CheckElf(fd, &fault);
      EXPECT_TRUE(parts ? parts->end <= whole.size() : !fault.empty()) << at;
    }
    ASSERT_EQ(pwrite(fd, &whole[at], 1, static_cast<off_t>(at)), 1);
  }
  close(fd);
}

}  // namespace
}  // namespace hone
