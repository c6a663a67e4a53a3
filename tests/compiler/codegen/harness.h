// Compiles nests, loads what came out and runs it beside the interpreter.
#ifndef HONE_TESTS_COMPILER_CODEGEN_HARNESS_H_
#define HONE_TESTS_COMPILER_CODEGEN_HARNESS_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/loop/builder.h"
#include "gtest/gtest.h"
#include "runtime/module_abi.h"
#include "tests/compiler/codegen/emulator.h"

namespace hone::codegen {

inline constexpr DataType kF32 = DataType::kFloat32;
inline constexpr const char* kAvx2 = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3";

// How often a word stands in assembly.
int Count(const std::string& text, const std::string& word);

// "native", or another target's text.
CpuTarget TestTarget(const std::string& text = "native");
// Whether this machine's processor has what code for the target takes.
bool RunsHere(const CpuTarget& target);
ModuleSpec ArtifactOf(const loop::Nest& nest, const Target& target,
                      const std::string& pipeline = "min6");

// A shared object in memory, loaded; unloaded at the end.
class LoadedModule {
 public:
  explicit LoadedModule(const std::string& elf);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  const hone_module* operator->() const { return module_; }
  bool ok() const { return module_ != nullptr; }

  // Runs the launches of kernel 0, the grid cut into pieces of `piece` indices, the last first.
  void Run(const std::vector<void*>& buffers, int64_t piece = 1 << 30) const;

 private:
  void* handle_ = nullptr;
  const hone_module* module_ = nullptr;
};

// Memory for the buffers of a nest, 64-byte aligned, with a page that cannot be touched before and
// after it.
class Buffers {
 public:
  // Inputs and constants: floats in [-2, 2] or the buffer's domain, small integers; all else is
  // filled with NaN or odd numbers.
  Buffers(const loop::Nest& nest, uint64_t seed);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  const std::vector<void*>& pointers() const { return pointers_; }
  double At(const loop::Nest& nest, int buffer, int64_t element) const;
  void Set(const loop::Nest& nest, int buffer, int64_t element, double value);

 private:
  struct Mapping {
    void* base;
    size_t bytes;
  };
  std::vector<Mapping> mappings_;
  std::vector<void*> pointers_;
};

// EXPECTs that every output has what `want` has: integers and bools exactly, floats within
// `tolerance` relative to max(1, |value|).
void ExpectSameOutputs(const loop::Nest& nest, const Buffers& got, const Buffers& want,
                       double tolerance);

// The memory of a nest's buffers.
std::vector<BufferBytes> MemoryOf(const loop::Nest& nest, const Buffers& buffers);

// Builds, runs (in an emulator where the target is another architecture: ask HasEmulator first) and
// compares every output with the interpreter: integers and bools
// exactly, floats within `tolerance` relative to max(1, |value|). Of a target that this machine's
// processor lacks something for, which is said, it only builds.
void ExpectSameAsInterpreter(const loop::Nest& nest, double tolerance = 1e-6,
                             const std::string& target = "native",
                             const std::string& pipeline = "min6");

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_HARNESS_H_
