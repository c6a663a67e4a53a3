// Dot products of bytes and of bfloat16: in the instructions of each target, and with what the
// interpreter says, of bytes to the bit.
#include <fmt/format.h>

#include "compiler/loop/accumulation.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

using loop::Expr;

// c[m, n] = sum a[m, k] * b[n, k], with `lanes` of n at once; b lies in fours or twos of k.
loop::Nest DotNest(int64_t lanes, DataType a_type, DataType b_type) {
  constexpr int64_t kRows = 3, kTerms = 20;
  const int64_t steps = loop::DotSteps(a_type);
  const DataType wide = IsFloat(a_type) ? DataType::kFloat32 : DataType::kInt32;
  const int64_t columns = 2 * lanes;
  const loop::Buffer a = loop::MakeBuffer("a", a_type, {kRows, kTerms}, loop::Role::kInput);
  loop::BufferNode packed = *loop::MakeBuffer("b", b_type, {columns, kTerms}, loop::Role::kInput);
  if (lanes > 1) packed.layout = *Layout::Parse(fmt::format("NC{}n{}c", lanes, steps), 2);
  const loop::Buffer b = std::make_shared<const loop::BufferNode>(packed);
  const loop::Buffer c = loop::MakeBuffer("c", wide, {kRows, columns}, loop::Role::kOutput);
  const Expr m = loop::Var("m"), n = loop::Var("n"), lane = loop::Var("lane");
  const Expr o = loop::Var("o"), k = loop::Var("k"), i = loop::Var("i");
  const Expr column = n * Expr(lanes) + lane;
  const Expr term = o * Expr(steps) + k;
  const loop::Stmt init =
      loop::For(i, 0, lanes, loop::Store(c, {m, n * Expr(lanes) + i}, loop::Const(5, wide)),
                loop::LoopKind::kVectorize);
  const loop::Stmt step =
      loop::Store(c, {m, column},
                  loop::Load(c, {m, column}) + loop::Cast(wide, loop::Load(a, {m, term})) *
                                                   loop::Cast(wide, loop::Load(b, {column, term})));
  const loop::Stmt sum =
      loop::For(o, 0, kTerms / steps,
                loop::For(lane, 0, lanes, loop::For(k, 0, steps, step, loop::LoopKind::kDot),
                          loop::LoopKind::kVectorize));
  loop::Nest nest;
  nest.name = "dot";
  nest.buffers = {a, b, c};
  nest.launches.push_back({"dot", loop::Phase::kRun,
                           loop::For(m, 0, kRows, loop::For(n, 0, 2, loop::Seq({init, sum})),
                                     loop::LoopKind::kParallel)});
  return nest;
}

std::vector<std::string> DotTargets() {
  std::vector<std::string> targets = {"native"};
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    targets.push_back(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={}", cpu));
  }
  return targets;
}

TEST(DotProduct, OfBFloat16IsTheSumOfTheLoopItMeans) {
  for (const std::string& target : DotTargets()) {
    for (const int64_t lanes : {1, 2, 4, 8, 16, 32}) {
      SCOPED_TRACE(fmt::format("{} lanes, {}", lanes, target));
      ExpectSameAsInterpreter(DotNest(lanes, DataType::kBFloat16, DataType::kBFloat16), 1e-5,
                              target);
      if (HasFailure()) return;
    }
  }
}

TEST(DotProduct, HasTheBitsOfTheLoopItMeans) {
  for (const std::string& target : DotTargets()) {
    for (const int64_t lanes : {1, 2, 4, 8, 16, 32}) {
      for (const DataType a : {DataType::kUInt8, DataType::kInt8}) {
        for (const DataType b : {DataType::kUInt8, DataType::kInt8}) {
          SCOPED_TRACE(fmt::format("{} lanes of {} by {}, {}", lanes, Name(a), Name(b), target));
          ExpectSameAsInterpreter(DotNest(lanes, a, b), 0, target);
          if (HasFailure()) return;
        }
      }
    }
  }
}

std::string DenseAssembly(const std::string& data, const std::string& weight,
                          const std::string& target) {
  const auto def = ops::LowerWorkload(
      fmt::format("fn (p0: Tensor[(16, 64), {}], const p1: Tensor[(64, 64), {}]) {{ nn.dense(p0, "
                  "p1) }} accumulate={} numerics=default",
                  data, weight, data == "bfloat16" ? "float32" : "int32"));
  EXPECT_TRUE(def.ok()) << def.status().ToString();
  schedule::Task task;
  task.def = &*def;
  task.target = TestTarget(target);
  const schedule::Template& chosen = schedule::TemplateFor(*def);
  task.signature = chosen.Signatures(*def, machine::Machine::For(task.target))[0];
  const auto nest = schedule::NestOfConfig(task, schedule::DefaultOfTask(task));
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  const auto assembly = EmitAssembly(ArtifactOf(*nest, task.target));
  EXPECT_TRUE(assembly.ok()) << assembly.status().ToString();
  return assembly.ok() ? *assembly : "";
}

TEST(DotProduct, IsTheInstructionOfTheTarget) {
  struct Case {
    const char *data, *weight, *target, *instruction;
  };
  const Case cases[] = {
      {"uint8", "int8", "llvm -mtriple=x86_64-linux-gnu -mcpu=cascadelake", "vpdpbusd"},
      {"uint8", "int8", "llvm -mtriple=x86_64-linux-gnu -mcpu=alderlake", "vpdpbusd"},
      {"int8", "int8", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4", "vpmaddwd"},
      {"uint8", "int8", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3", "vpmaddwd"},
      {"uint8", "int8", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64", "pmaddwd"},
      {"int8", "int8", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "sdot"},
      {"uint8", "uint8", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "udot"},
      {"uint8", "int8", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1", "usdot"},
      {"uint8", "int8", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", "mla"},
      {"bfloat16", "bfloat16", "llvm -mtriple=x86_64-linux-gnu -mcpu=znver5", "vdpbf16ps"},
      {"bfloat16", "bfloat16", "llvm -mtriple=x86_64-linux-gnu -mcpu=znver5", "vcvtneps2bf16"},
      {"bfloat16", "bfloat16", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4", "vfmadd"},
      {"bfloat16", "bfloat16", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3", "vfmadd"},
      {"bfloat16", "bfloat16", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64", "mulps"},
      {"bfloat16", "bfloat16", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1", "bfdot"},
      {"bfloat16", "bfloat16", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "fmla"},
  };
  for (const Case& c : cases) {
    const std::string assembly = DenseAssembly(c.data, c.weight, c.target);
    EXPECT_GE(Count(assembly, c.instruction), 8) << c.instruction << " " << c.target;
  }
}

}  // namespace
}  // namespace hone::codegen
