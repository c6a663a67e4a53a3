// What the schedules lean on: register tiles stay in registers, and artifacts need nothing.
#include <elf.h>
#include <signal.h>

#include <cstring>
#include <thread>

#include "gmock/gmock.h"
#include "tests/compiler/codegen/emulator.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/hot_loop.h"

namespace hone::codegen {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::For;
using loop::Load;
using loop::LoopKind;
using loop::Role;
using loop::Seq;
using loop::Stmt;
using loop::Store;
using loop::Var;

constexpr const char* kZen5 = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2";
constexpr const char* kArm = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";

// c = relu(a b) with b packed in panels of `vectors` vectors: tiles of `rows` x `vectors` vectors
// accumulate in registers.
loop::Nest TiledMatmul(int64_t m, int64_t n, int64_t k, int64_t rows, int64_t vectors,
                       int64_t lanes) {
  const int64_t width = vectors * lanes;
  const auto a = loop::MakeBuffer("a", kF32, {m, k}, Role::kInput);
  const auto b = loop::MakeBuffer("b", kF32, {n / width, k, width}, Role::kConstant);
  const auto c = loop::MakeBuffer("c", kF32, {m, n}, Role::kOutput);
  loop::BufferNode node = *loop::MakeBuffer("acc", kF32, {rows, vectors, lanes});
  node.scope = loop::Scope::kRegister;
  const Buffer acc = std::make_shared<loop::BufferNode>(node);
  const Expr i = Var("i"), j = Var("j"), p = Var("p");
  const auto tile = [&](const std::string& name,
                        const std::function<Stmt(Expr r, Expr v, Expr l)>& body) {
    const Expr r = Var(name + ".r"), v = Var(name + ".v"), l = Var(name + ".l");
    return For(r, 0, rows,
               For(v, 0, vectors, For(l, 0, lanes, body(r, v, l), LoopKind::kVectorize),
                   LoopKind::kUnroll),
               LoopKind::kUnroll);
  };
  const Stmt init = tile("init", [&](Expr r, Expr v, Expr l) {
    return Store(acc, {r, v, l}, loop::FloatConst(0, kF32));
  });
  const Stmt update = tile("update", [&](Expr r, Expr v, Expr l) {
    return Store(
        acc, {r, v, l},
        Load(acc, {r, v, l}) + Load(a, {i * rows + r, p}) * Load(b, {j, p, v * lanes + l}));
  });
  const Stmt write = tile("write", [&](Expr r, Expr v, Expr l) {
    return Store(c, {i * rows + r, j * width + v * lanes + l},
                 loop::Max(Load(acc, {r, v, l}), loop::FloatConst(0, kF32)));
  });
  loop::Nest nest;
  nest.name = "matmul";
  nest.buffers = {a, b, c};
  nest.launches.push_back(
      {"matmul", loop::Phase::kRun,
       For(j, 0, n / width,
           For(i, 0, m / rows, loop::Alloc(acc, Seq({init, For(p, 0, k, update), write})),
               LoopKind::kParallel),
           LoopKind::kParallel)});
  return nest;
}

TEST(CodeShape, RegisterTileStaysInZmmWithEmbeddedBroadcast) {
  for (const char* pipeline : {"min6", "O3"}) {
    ModuleSpec spec = ArtifactOf(TiledMatmul(28, 64, 96, 14, 2, 16), TestTarget(kZen5), pipeline);
    const auto assembly = EmitAssembly(spec);
    ASSERT_TRUE(assembly.ok()) << assembly.status().ToString();
    const std::vector<std::string> loop = HotLoop(*assembly, "vfmadd");
    EXPECT_EQ(CountLines(loop, {"vfmadd", "zmm"}), 28) << *assembly;
    // Each element of a is broadcast once for two vectors, or twice within the instruction.
    EXPECT_GE(CountLines(loop, {"{1to16}"}) + CountLines(loop, {"vbroadcastss"}), 14);
    EXPECT_EQ(CountLines(loop, {"(%rsp)"}), 0) << "spills";
    EXPECT_LE(loop.size(), 60u);
  }
}

TEST(CodeShape, SingleVectorTilesBroadcastWithinTheMultiplyAdd) {
  const auto assembly =
      EmitAssembly(ArtifactOf(TiledMatmul(28, 64, 96, 28, 1, 16), TestTarget(kZen5)));
  ASSERT_TRUE(assembly.ok());
  const std::vector<std::string> loop = HotLoop(*assembly, "vfmadd");
  EXPECT_EQ(CountLines(loop, {"vfmadd", "{1to16}"}), 28);
  EXPECT_EQ(CountLines(loop, {",%r"}), 0) << "an operand with an index is two instructions inside";
  EXPECT_EQ(CountLines(loop, {"leaq"}) + CountLines(loop, {"movq"}), 0) << "of the loop's position";
}

TEST(CodeShape, RegisterTileStaysInYmm) {
  const auto assembly =
      EmitAssembly(ArtifactOf(TiledMatmul(12, 32, 96, 6, 2, 8), TestTarget(kAvx2)));
  ASSERT_TRUE(assembly.ok());
  const std::vector<std::string> loop = HotLoop(*assembly, "vfmadd");
  EXPECT_EQ(CountLines(loop, {"vfmadd", "ymm"}), 12) << *assembly;
  EXPECT_EQ(CountLines(loop, {"(%rsp)"}), 0) << "spills";
}

// y[l, r] = x[r, l], the lanes vectorised: neither side of it element by element.
TEST(CodeShape, ResultsAcrossTheLanesAreNotScattered) {
  const auto x = loop::MakeBuffer("x", kF32, {4, 16}, Role::kInput);
  const auto y = loop::MakeBuffer("y", kF32, {16, 4}, Role::kOutput);
  const Expr r = Var("r"), l = Var("l");
  loop::Nest nest;
  nest.name = "turn";
  nest.buffers = {x, y};
  const Stmt store = Store(y, {l, r}, Load(x, {r, l}));
  nest.launches.push_back(
      {"run", loop::Phase::kRun,
       For(r, 0, 4, For(l, 0, 16, store, LoopKind::kVectorize), LoopKind::kUnroll)});
  const absl::StatusOr<std::string> assembly = EmitAssembly(ArtifactOf(nest, TestTarget(kZen5)));
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  EXPECT_THAT(*assembly, testing::Not(testing::HasSubstr("scatter")));
  EXPECT_THAT(*assembly, testing::HasSubstr("vunpcklps"));
}

TEST(CodeShape, RegisterTileUsesFmlaOnArm) {
  const auto assembly =
      EmitAssembly(ArtifactOf(TiledMatmul(16, 32, 96, 8, 2, 4), TestTarget(kArm)));
  ASSERT_TRUE(assembly.ok()) << assembly.status().ToString();
  const std::vector<std::string> loop = HotLoop(*assembly, "fmla");
  EXPECT_EQ(CountLines(loop, {"fmla"}), 16) << *assembly;
  EXPECT_EQ(CountLines(loop, {"[sp"}), 0) << "spills";
}

TEST(CodeShape, RegisterTileComputesTheProduct) {
  const int lanes = TestTarget().VectorLanes();
  ExpectSameAsInterpreter(TiledMatmul(12, 4 * lanes, 33, 6, 2, lanes), 1e-5);
  ExpectSameAsInterpreter(TiledMatmul(12, 4 * lanes, 33, 6, 2, lanes), 1e-5, "native", "O3");
}

TEST(CodeShape, RegisterTileComputesTheProductOnArm) {
  if (!HasEmulator()) GTEST_SKIP() << kNoEmulator;
  for (const char* pipeline : {"min6", "O3"}) {
    ExpectSameAsInterpreter(TiledMatmul(12, 32, 33, 6, 2, 4), 1e-5, kArm, pipeline);
  }
}

// ---- the shared object ----

struct DynamicFacts {
  int machine = 0;
  std::vector<std::string> defined;
  std::vector<std::string> undefined;
};

DynamicFacts ReadDynamicSymbols(const std::string& elf) {
  DynamicFacts facts;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(elf.data());
  facts.machine = header->e_machine;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(elf.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const char* names = elf.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(elf.data() + sections[i].sh_offset);
    for (size_t s = 1; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s) {
      const bool undefined = symbols[s].st_shndx == SHN_UNDEF;
      (undefined ? facts.undefined : facts.defined).push_back(names + symbols[s].st_name);
    }
  }
  return facts;
}

// All that tempts a compiler to call libraries: copies, fills, conversions, functions.
loop::Nest TemptingNest() {
  loop::NestBuilder builder("tempting");
  const Buffer x = builder.AddInput("x", kF32, {4096});
  std::vector<Buffer> outputs;
  const auto add = [&](DataType dtype, const std::function<Expr(Expr)>& value) {
    outputs.push_back(builder.Compute(
        "y", dtype, {4096}, [&](const std::vector<Expr>& i) { return value(Load(x, i)); }));
  };
  add(kF32, [](Expr v) { return v; });
  add(kF32, [](Expr) { return loop::FloatConst(0, kF32); });
  add(DataType::kInt8, [](Expr) { return loop::IntConst(1, DataType::kInt8); });
  for (const DataType dtype : {DataType::kFloat16, DataType::kBFloat16, DataType::kFloat64,
                               DataType::kInt64, DataType::kUInt8}) {
    add(dtype, [&](Expr v) { return loop::Cast(dtype, v); });
    add(dtype, [&](Expr v) { return loop::Cast(dtype, loop::Cast(DataType::kFloat64, v)); });
  }
  for (int op = 0; op <= static_cast<int>(loop::UnaryOp::kAtanh); ++op) {
    const auto unary = static_cast<loop::UnaryOp>(op);
    add(kF32, [&](Expr v) { return loop::Unary(unary, v); });
    add(DataType::kFloat64,
        [&](Expr v) { return loop::Unary(unary, loop::Cast(DataType::kFloat64, v)); });
  }
  for (const auto op : {loop::BinaryOp::kPow, loop::BinaryOp::kMod, loop::BinaryOp::kFloorMod}) {
    add(kF32, [&](Expr v) { return loop::Binary(op, v, v + loop::FloatConst(1, kF32)); });
  }
  return builder.Finish(outputs);
}

TEST(SharedObject, ExportsOneSymbolAndNeedsNone) {
  for (const char* target :
       {"native", kZen5, kAvx2, kArm, "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2"}) {
    for (const char* pipeline : {"min6", "O3"}) {
      const auto elf = BuildModule(ArtifactOf(TemptingNest(), TestTarget(target), pipeline));
      ASSERT_TRUE(elf.ok()) << target << ": " << elf.status().ToString();
      const DynamicFacts facts = ReadDynamicSymbols(*elf);
      EXPECT_THAT(facts.defined, testing::ElementsAre(HONE_MODULE_SYMBOL));
      EXPECT_THAT(facts.undefined, testing::IsEmpty()) << target;
      EXPECT_EQ(facts.machine, TestTarget(target).IsAArch64() ? EM_AARCH64 : EM_X86_64);
    }
  }
}

TEST(SharedObject, IsTheSameEveryTime) {
  const ModuleSpec spec = ArtifactOf(TiledMatmul(12, 64, 8, 6, 2, 16), TestTarget(kZen5));
  const auto first = BuildModule(spec);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(setenv("TMPDIR", testing::TempDir().c_str(), 1), 0);
  const auto second = BuildModule(spec);
  unsetenv("TMPDIR");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*first, *second);
}

// LLVM's passes are kept from module to module, by each thread for itself.
TEST(SharedObject, DoesNotDependOnWhatWasBuiltBefore) {
  for (const char* target : {kZen5, kAvx2, kArm}) {
    const ModuleSpec specs[] = {ArtifactOf(TemptingNest(), TestTarget(target)),
                                ArtifactOf(TiledMatmul(12, 64, 8, 6, 2, 16), TestTarget(target)),
                                ArtifactOf(TiledMatmul(6, 32, 4, 6, 2, 16), TestTarget(target))};
    for (const ModuleSpec& spec : specs) {
      const auto after_others = BuildModule(spec);
      absl::StatusOr<std::string> alone;
      std::thread([&] { alone = BuildModule(spec); }).join();
      ASSERT_TRUE(after_others.ok() && alone.ok()) << target;
      EXPECT_EQ(*after_others, *alone) << target;
    }
  }
}

TEST(SharedObject, AssemblyDoesNotDependOnWhatWasBuiltBefore) {
  const ModuleSpec spec = ArtifactOf(TiledMatmul(12, 64, 8, 6, 2, 16), TestTarget(kZen5));
  const auto first = EmitAssembly(spec);
  ASSERT_TRUE(BuildModule(spec).ok());
  const auto second = EmitAssembly(spec);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
}

TEST(SharedObject, BuildingLeavesSignalHandlersAlone) {
  struct sigaction before[2];
  struct sigaction after[2];
  sigaction(SIGSEGV, nullptr, &before[0]);
  sigaction(SIGTERM, nullptr, &before[1]);
  ASSERT_TRUE(BuildModule(ArtifactOf(TiledMatmul(6, 32, 4, 6, 2, 16), TestTarget(kZen5))).ok());
  sigaction(SIGSEGV, nullptr, &after[0]);
  sigaction(SIGTERM, nullptr, &after[1]);
  EXPECT_EQ(before[0].sa_handler, after[0].sa_handler);
  EXPECT_EQ(before[1].sa_handler, after[1].sa_handler);
}

TEST(SharedObject, TablesSayWhichBuffersRunsRead) {
  const auto weight = loop::MakeBuffer("weight", kF32, {64}, Role::kConstant);
  const auto packed = loop::MakeBuffer("packed", kF32, {64}, Role::kPrepared);
  const auto bias = loop::MakeBuffer("bias", kF32, {64}, Role::kConstant);
  const auto out = loop::MakeBuffer("out", kF32, {64}, Role::kOutput);
  const Expr i = Var("i"), j = Var("j");
  loop::Nest nest;
  nest.name = "kernel";
  nest.buffers = {weight, packed, bias, out};
  nest.launches = {
      {"pack", loop::Phase::kPrepare, For(i, 0, 64, Store(packed, {i}, Load(weight, {i})))},
      {"run", loop::Phase::kRun,
       For(j, 0, 64, Store(out, {j}, Load(packed, {j}) + Load(bias, {j})))}};
  const auto elf = BuildModule(ArtifactOf(nest, TestTarget()));
  ASSERT_TRUE(elf.ok()) << elf.status().ToString();
  const LoadedModule module(*elf);
  ASSERT_TRUE(module.ok());
  const hone_buffer* buffers = module->kernels[0].buffers;
  EXPECT_EQ(buffers[0].flags, HONE_BUFFER_NOT_READ_BY_RUN);
  EXPECT_EQ(buffers[1].flags, 0u);
  EXPECT_EQ(buffers[2].flags, 0u);
  EXPECT_EQ(buffers[3].flags, HONE_BUFFER_NOT_READ_BY_RUN);
}

TEST(SharedObject, TablesSayWhatTheSpecSaid) {
  const CpuTarget target = TestTarget();
  ModuleSpec spec = ArtifactOf(TiledMatmul(28, 256, 512, 14, 2, 16), target);
  KernelSpec& kernel = spec.kernels[0];
  kernel.workload = "fn (...)";
  kernel.workload_digest = "abcd";
  kernel.config = "{\"tile\":14}";
  kernel.tier = "tuned";
  kernel.flops = 123.5;
  kernel.error_bound = 9;
  kernel.spreads_rounding = true;
  kernel.flush_subnormals = true;
  FunctionSpec function;
  function.inputs.push_back({"data", kF32, {28, 512}});
  function.outputs.push_back({"out", kF32, {28, 256}});
  function.arena_bytes = 640;
  CallSpec call;
  call.barrier_before = true;
  call.locations = {
      {HONE_SPACE_INPUT, 0, 0}, {HONE_SPACE_PARAMETERS, 0, 64}, {HONE_SPACE_OUTPUT, 0, 0}};
  function.calls.push_back(call);
  spec.functions.push_back(function);
  spec.parameters_bytes = 4096;
  const auto elf = BuildModule(spec);
  ASSERT_TRUE(elf.ok()) << elf.status().ToString();
  const LoadedModule module(*elf);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->abi_version, 1u);
  EXPECT_EQ(module->target, target.ToString());
  EXPECT_THAT(module->toolchain, testing::HasSubstr("LLVM 19."));
  EXPECT_EQ(module->parameters_bytes, 4096u);
  ASSERT_EQ(module->kernel_count, 1u);
  const hone_kernel& k = module->kernels[0];
  EXPECT_STREQ(k.name, "matmul");
  EXPECT_STREQ(k.workload, "fn (...)");
  EXPECT_STREQ(k.workload_digest, "abcd");
  EXPECT_STREQ(k.config, "{\"tile\":14}");
  EXPECT_STREQ(k.tier, "tuned");
  EXPECT_EQ(k.flops, 123.5);
  EXPECT_EQ(k.error_bound, 9);
  ASSERT_EQ(k.buffer_count, 3u);
  EXPECT_STREQ(k.buffers[1].name, "b");
  EXPECT_EQ(k.buffers[1].role, HONE_ROLE_CONSTANT);
  EXPECT_EQ(k.buffers[1].rank, 3);
  EXPECT_EQ(k.buffers[1].shape[2], 32);
  EXPECT_STREQ(k.buffers[2].layout, "NC");
  EXPECT_EQ(k.buffers[2].size_bytes, 28u * 256 * 4);
  EXPECT_EQ(k.buffers[1].flags, 0u);
  EXPECT_EQ(k.buffers[2].flags, HONE_BUFFER_TRANSFORMED | HONE_BUFFER_NOT_READ_BY_RUN);
  ASSERT_EQ(k.launch_count, 1u);
  EXPECT_EQ(k.launches[0].grid_extent, 16);
  EXPECT_EQ(k.launches[0].phase, static_cast<uint32_t>(HONE_PHASE_RUN));
  EXPECT_EQ(k.launches[0].serial, 0u);
  EXPECT_EQ(k.launches[0].flags, HONE_LAUNCH_FLUSH_SUBNORMALS);
  ASSERT_EQ(module->function_count, 1u);
  const hone_function& f = module->functions[0];
  EXPECT_STREQ(f.name, "main");
  EXPECT_EQ(f.arena_bytes, 640u);
  EXPECT_STREQ(f.inputs[0].name, "data");
  EXPECT_EQ(f.inputs[0].size_bytes, 28u * 512 * 4);
  EXPECT_EQ(f.outputs[0].rank, 2u);
  ASSERT_EQ(f.call_count, 1u);
  EXPECT_EQ(f.calls[0].barrier_before, 1u);
  EXPECT_EQ(f.calls[0].locations[1].space, static_cast<uint32_t>(HONE_SPACE_PARAMETERS));
  EXPECT_EQ(f.calls[0].locations[1].offset_bytes, 64u);
}

TEST(SharedObject, KernelsOfDifferentPipelinesStandInOneModule) {
  ModuleSpec spec = ArtifactOf(TiledMatmul(12, 64, 8, 6, 2, 16), TestTarget());
  KernelSpec other = spec.kernels[0];
  other.pipeline = "O3";
  spec.kernels.push_back(other);
  spec.kernels.push_back(spec.kernels[0]);
  const auto elf = BuildModule(spec);
  ASSERT_TRUE(elf.ok()) << elf.status().ToString();
  EXPECT_THAT(ReadDynamicSymbols(*elf).defined, testing::ElementsAre(HONE_MODULE_SYMBOL));
  const LoadedModule module(*elf);
  ASSERT_TRUE(module.ok());
  ASSERT_EQ(module->kernel_count, 3u);
  const auto code = [&](int i) { return module->kernels[i].launches[0].function; };
  EXPECT_NE(code(0), code(1));
  EXPECT_NE(code(0), code(2));
  module.Run(Buffers(spec.kernels[0].nest, 1).pointers());
}

TEST(SharedObject, RefusesUnknownPipelinesAndTargets) {
  const loop::Nest nest = TiledMatmul(6, 32, 4, 6, 2, 16);
  EXPECT_EQ(BuildModule(ArtifactOf(nest, TestTarget(), "O9")).status().code(),
            absl::StatusCode::kInvalidArgument);
  CpuTarget odd = TestTarget();
  odd.triple = "sparc-none-elf";
  EXPECT_EQ(BuildModule(ArtifactOf(nest, odd)).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::codegen
