#include "compiler/codegen/parameters.h"

#include <unistd.h>

#include <cstring>

#include "gmock/gmock.h"
#include "runtime/module.h"
#include "support/file_system.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/runtime/damaged_headers.h"

namespace hone::codegen {
namespace {

ModuleSpec CopySpec(uint64_t parameters_bytes) {
  loop::NestBuilder builder("copy");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {8});
  const loop::Buffer y =
      builder.Compute("y", DataType::kFloat32, {8},
                      [&](const std::vector<loop::Expr>& i) { return loop::Load(x, i); });
  ModuleSpec spec = ArtifactOf(builder.Finish({y}), TestTarget());
  spec.parameters_bytes = parameters_bytes;
  return spec;
}

TEST(Parameters, AreFoundByTheRuntime) {
  const std::string path = testing::TempDir() + "/hone_parameters_test.so";
  const auto elf = BuildModule(CopySpec(10000));
  ASSERT_TRUE(elf.ok());
  const std::string first(3000, 'a');
  const std::string second(100, 'b');
  auto writer = ModuleWriter::Create(path, *elf, 10000);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Append(0, first).ok());
  ASSERT_TRUE(writer->Append(4096, second).ok());
  ASSERT_TRUE(writer->Finish().ok());
  std::string error;
  const std::unique_ptr<Module> module = Module::Open(path, &error);
  ASSERT_NE(module, nullptr) << error;
  EXPECT_EQ(module->table().parameters_bytes, 10000u);
  const uint8_t* bytes = module->parameters();
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(bytes[2999], 'a');
  EXPECT_EQ(bytes[3000], 0);
  EXPECT_EQ(bytes[4095], 0);
  EXPECT_EQ(bytes[4096], 'b');
  EXPECT_EQ(bytes[9999], 0);
  unlink(path.c_str());
}

// They are written a huge page at a time, whatever is appended.
TEST(Parameters, ManyStartAtAHugePage) {
  constexpr uint64_t kHugePage = 2 << 20, kBytes = 4 * kHugePage + 5000;
  const std::string path = testing::TempDir() + "/hone_many_parameters_test.so";
  const auto elf = BuildModule(CopySpec(kBytes));
  ASSERT_TRUE(elf.ok());
  auto writer = ModuleWriter::Create(path, *elf, kBytes);
  ASSERT_TRUE(writer.ok());
  std::string wanted;
  for (const size_t count : {size_t{1000}, size_t{kHugePage - 1000}, size_t{3}, size_t{5 << 20}}) {
    const std::string part(count, static_cast<char>('a' + wanted.size() % 26));
    ASSERT_TRUE(writer->Append(wanted.size(), part).ok());
    wanted += part;
  }
  ASSERT_TRUE(writer->Finish().ok());
  wanted.resize(kBytes, '\0');
  std::string error;
  const std::unique_ptr<Module> module = Module::Open(path, &error);
  ASSERT_NE(module, nullptr) << error;
  EXPECT_EQ(std::memcmp(module->parameters(), wanted.data(), kBytes), 0);
  const std::string file = *ReadFile(path);
  EXPECT_EQ(file.find(wanted) % kHugePage, 0u);
  unlink(path.c_str());
}

TEST(Parameters, ModuleWithoutThemIsTheSharedObject) {
  const std::string path = testing::TempDir() + "/hone_no_parameters_test.so";
  const auto elf = BuildModule(CopySpec(0));
  ASSERT_TRUE(elf.ok());
  auto writer = ModuleWriter::Create(path, *elf, 0);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Finish().ok());
  std::string error;
  EXPECT_NE(Module::Open(path, &error), nullptr) << error;
  unlink(path.c_str());
}

TEST(Parameters, UnfinishedModuleLeavesNoFile) {
  const std::string path = testing::TempDir() + "/hone_unfinished_test.so";
  {
    auto writer = ModuleWriter::Create(path, "elf", 100);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append(64, "abc").ok());
    EXPECT_EQ(writer->Append(10, "abc").code(), absl::StatusCode::kInternal);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(Parameters, NoDamagedByteOfAModulesHeadersKillsWhoOpensIt) {
  const auto elf = BuildModule(CopySpec(0));
  ASSERT_TRUE(elf.ok());
  std::string error;
  ASSERT_NE(Module::OpenBytes(elf->data(), elf->size(), &error), nullptr) << error;
  ExpectNoDamagedHeaderKills(*elf);
}

TEST(Parameters, NamesTheFileThatCannotBeWritten) {
  const auto writer = ModuleWriter::Create("/nonexistent/x.so", "elf", 0);
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(writer.status().ToString(), testing::HasSubstr("cannot write /nonexistent/x.so"));
  EXPECT_THAT(writer.status().ToString(), testing::Not(testing::HasSubstr("cannot cannot")));
}

}  // namespace
}  // namespace hone::codegen
