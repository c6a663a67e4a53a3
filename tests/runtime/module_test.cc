// What a damaged or foreign file does to somebody who opens it.
#include "runtime/module.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "runtime/host_cpu.h"
#include "runtime/missing_feature.h"
#include "runtime/module_abi.h"
#include "tests/runtime/c_module.h"
#include "tests/runtime/damaged_headers.h"
#include "tests/runtime/sample_modules.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ErrorOf(const std::string& path) {
  std::string error;
  EXPECT_EQ(Module::Open(path, &error), nullptr);
  return error;
}

TEST(ModuleTest, MapsParameters) {
  TestFolder folder;
  const std::string path = CompileC(folder, "scale", ScaleModule());
  const float parameters[4] = {2, 3, 5, 7};
  AppendParameters(path, {reinterpret_cast<const char*>(parameters), sizeof(parameters)});
  std::string error;
  const auto module = Module::Open(path, &error);
  ASSERT_NE(module, nullptr) << error;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(module->parameters()) % 4096, 0u);
  EXPECT_EQ(reinterpret_cast<const float*>(module->parameters())[3], 7);
}

TEST(ModuleTest, SurvivesTheReplacementOfItsFile) {
  TestFolder folder;
  const std::string path = CompileC(folder, "scale", ScaleModule());
  AppendParameters(path, std::string(16, '\1'));
  std::string error;
  const auto first = Module::Open(path, &error);
  ASSERT_NE(first, nullptr) << error;
  const std::string other = CompileC(folder, "chain", ChainModule());
  ASSERT_EQ(std::rename(other.c_str(), path.c_str()), 0);
  const auto second = Module::Open(path, &error);
  ASSERT_NE(second, nullptr) << error;
  EXPECT_STREQ(first->table().functions[0].name, "main");
  EXPECT_NE(&first->table(), &second->table());
}

std::string NameOf(const std::unique_ptr<Module>& module) {
  return module == nullptr ? "" : module->table().kernels[0].name;
}

// The loader gives an object that it has a further name for each path by which it is opened again.
TEST(ModuleTest, IsNotTakenForAnotherThatWasOpenedTwice) {
  TestFolder folder;
  const std::string scale = CompileC(folder, "scale", ScaleModule());
  AppendParameters(scale, std::string(16, '\1'));
  const std::string chain = CompileC(folder, "chain", ChainModule());
  std::string error;
  const auto held = Module::Open(scale, &error);
  for (int i = 0; i < 5; ++i) {
    auto again = Module::Open(scale, &error);
    EXPECT_EQ(NameOf(again), NameOf(held)) << error;
    again.reset();
    const auto other = Module::Open(chain, &error);
    ASSERT_NE(other, nullptr) << error;
    EXPECT_NE(NameOf(other), NameOf(held));
  }
  const std::string bytes = ReadBytes(chain);
  auto again = Module::Open(scale, &error);
  again.reset();
  const auto in_memory = Module::OpenBytes(bytes.data(), bytes.size(), &error);
  ASSERT_NE(in_memory, nullptr) << error;
  EXPECT_NE(NameOf(in_memory), NameOf(held));
}

// A library of this process, say, which stays loaded.
TEST(ModuleTest, IsNotTakenForWhatWasRefusedBefore) {
  TestFolder folder;
  const std::string chain = CompileC(folder, "chain", ChainModule());
  Dl_info libc{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::strlen), &libc), 0);
  ErrorOf(libc.dli_fname);
  std::string error;
  EXPECT_NE(Module::Open(chain, &error), nullptr) << error;
}

TEST(ModuleTest, KeepsNoDescriptor) {
  TestFolder folder;
  const std::string chain = CompileC(folder, "chain", ChainModule());
  std::string error;
  const int before = dup(0);
  close(before);
  const auto module = Module::Open(chain, &error);
  ASSERT_NE(module, nullptr) << error;
  const int after = dup(0);
  close(after);
  EXPECT_EQ(after, before);
}

TEST(ModuleTest, RefusesAMissingFile) {
  EXPECT_THAT(ErrorOf("/nowhere/model.so"),
              AllOf(HasSubstr("/nowhere/model.so"), HasSubstr("No such file")));
}

TEST(ModuleTest, RefusesWhatIsNoSharedObject) {
  TestFolder folder;
  WriteBytes(folder / "text.so", "this is no ELF file\n");
  EXPECT_THAT(ErrorOf(folder / "text.so"),
              AllOf(HasSubstr("text.so"), HasSubstr("expected a compiled module")));
  WriteBytes(folder / "empty.so", "");
  EXPECT_THAT(ErrorOf(folder / "empty.so"), HasSubstr("empty.so"));
}

TEST(ModuleTest, RefusesASharedObjectOfSomebodyElse) {
  TestFolder folder;
  const std::string path = CompileC(folder, "foreign", "int answer(void) { return 42; }\n");
  EXPECT_THAT(ErrorOf(path), HasSubstr("no symbol hone_module_v1"));
}

TEST(ModuleTest, RefusesAnotherAbiVersion) {
  TestFolder folder;
  const std::string path = CompileC(folder, "future", "#define MODULE_VERSION 7\n" + ScaleModule());
  EXPECT_THAT(ErrorOf(path), AllOf(HasSubstr("ABI version 1"), HasSubstr("found 7"),
                                   HasSubstr("compile it again")));
}

TEST(ModuleTest, RefusesAFileWithoutItsParameters) {
  TestFolder folder;
  const std::string path = CompileC(folder, "scale", ScaleModule());
  EXPECT_THAT(ErrorOf(path), AllOf(HasSubstr("16 bytes of parameters"), HasSubstr("cut")));
  AppendParameters(path, std::string(16, '\1'));
  const std::string whole = ReadBytes(path);
  WriteBytes(path, whole.substr(0, whole.size() - 1));
  EXPECT_THAT(ErrorOf(path), HasSubstr("cut"));
}

TEST(ModuleTest, RefusesEveryTruncation) {
  TestFolder folder;
  const std::string path = CompileC(folder, "scale", ScaleModule());
  AppendParameters(path, std::string(16, '\1'));
  const std::string whole = ReadBytes(path);
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 40) {
    const std::string cut = folder / ("cut" + std::to_string(size) + ".so");
    WriteBytes(cut, whole.substr(0, size));
    EXPECT_FALSE(ErrorOf(cut).empty()) << size;
  }
}

TEST(ModuleTest, NoDamagedByteOfTheHeadersKillsTheProcess) {
  TestFolder folder;
  const std::string path = CompileC(folder, "scale", ScaleModule());
  AppendParameters(path, std::string(16, '\1'));
  ExpectNoDamagedHeaderKills(ReadBytes(path));
}

TEST(ModuleTest, RefusesATrailerThatDoesNotFitTheFile) {
  TestFolder folder;
  const std::string path = CompileC(folder, "scale", ScaleModule());
  AppendParameters(path, std::string(16, '\1'));
  const std::string whole = ReadBytes(path);
  hone_trailer trailer{};
  const size_t at = whole.size() - sizeof(trailer);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{4096}, uint64_t{1} << 63}) {
    std::memcpy(&trailer, whole.data() + at, sizeof(trailer));
    trailer.parameters_offset = offset;
    std::string damaged = whole;
    std::memcpy(damaged.data() + at, &trailer, sizeof(trailer));
    WriteBytes(folder / "damaged.so", damaged);
    EXPECT_THAT(ErrorOf(folder / "damaged.so"), HasSubstr("damaged")) << offset;
  }
  // Bytes between the parameters and the trailer.
  std::string longer = whole;
  longer.insert(at, 64, '\0');
  WriteBytes(folder / "longer.so", longer);
  EXPECT_THAT(ErrorOf(folder / "longer.so"), HasSubstr("damaged"));
}

TEST(ModuleTest, RefusesFoldersAndPipesAtOnce) {
  TestFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe.so").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf(folder / "pipe.so"), HasSubstr("no regular file"));
  EXPECT_THAT(ErrorOf(folder / "."), HasSubstr("a folder"));
}

TEST(ModuleTest, RefusesAModuleOfAProcessorThatHasMore) {
  std::string lacking;
  for (const char* name :
       {"amx-fp16", "avxvnniint8", "avx512fp16", "amx-tile", "avx512f", "sve2"}) {
    if (LooksFor(name) &&
        !MissingFeature(std::string("llvm -mattr=+") + name, HostFeatures()).empty())
      lacking = name;
  }
  if (lacking.empty()) GTEST_SKIP() << "this machine has every feature";
  TestFolder folder;
  const std::string path =
      CompileC(folder, "scale",
               "#define TARGET \"llvm -mattr=+" + lacking + " -threads=1\"\n" + ScaleModule());
  AppendParameters(path, std::string(16, '\1'));
  EXPECT_THAT(ErrorOf(path), AllOf(HasSubstr(path), HasSubstr("a processor with " + lacking),
                                   HasSubstr("compile it for this machine")));
}

TEST(MissingFeatureTest, IsTheFirstThatTheHostLacks) {
  const std::vector<std::string> host = {"avx", "avx2"};
#ifdef __x86_64__
  const std::string target = "llvm -mtriple=x86_64-linux-gnu -mattr=+avx,+avx512f,+fma -threads=2";
  EXPECT_EQ(MissingFeature(target, host), "avx512f");
  EXPECT_EQ(MissingFeature("llvm -mattr=+avx,+avx2", host), "");
#endif
  EXPECT_EQ(MissingFeature("llvm -mattr=+of-another-century -threads=2", host), "");
  EXPECT_EQ(MissingFeature("llvm -mattr= -threads=2", host), "");
  EXPECT_EQ(MissingFeature("llvm", host), "");
}

TEST(ModuleTest, RefusesTablesThatReachBeyondTheirMemory) {
  TestFolder folder;
  EXPECT_THAT(ErrorOf(CompileC(folder, "arena", "#define ARENA_BYTES 8\n" + ChainModule())),
              HasSubstr("reaches beyond its memory"));
  EXPECT_THAT(ErrorOf(CompileC(folder, "size", "#define BUFFER_BYTES 12\n" + ChainModule())),
              HasSubstr("does not fit its shape"));
  EXPECT_THAT(ErrorOf(CompileC(folder, "grid", "#define GRID 0\n" + ChainModule())),
              HasSubstr("damaged launch table"));
  EXPECT_THAT(ErrorOf(CompileC(folder, "kernel", "#define KERNEL 9\n" + ChainModule())),
              HasSubstr("not there"));
  EXPECT_THAT(ErrorOf(CompileC(folder, "dtype", "#define DTYPE 77\n" + ChainModule())),
              HasSubstr("does not fit its shape"));
  EXPECT_THAT(ErrorOf(CompileC(folder, "null", "#define TABLE 0\n" + ChainModule())),
              HasSubstr("damaged"));
  EXPECT_THAT(ErrorOf(CompileC(folder, "offset", "#define OFFSET 4\n" + ChainModule())),
              HasSubstr("not aligned"));
}

}  // namespace
}  // namespace hone
