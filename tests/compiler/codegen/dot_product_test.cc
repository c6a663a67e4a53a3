// Dot products of bytes: in the instructions of each target, and with the interpreter's bits.
#include <fmt/format.h>

#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {
namespace {

using loop::Expr;

Expr Wide(const Expr& e) { return loop::Cast(DataType::kInt32, e); }

// c[m, n] = sum a[m, k] * b[n, k], with `lanes` of n at once; b lies in fours of k.
loop::Nest DotNest(int64_t lanes, DataType a_type, DataType b_type) {
  constexpr int64_t kRows = 3, kTerms = 20;
  const int64_t columns = 2 * lanes;
  const loop::Buffer a = loop::MakeBuffer("a", a_type, {kRows, kTerms}, loop::Role::kInput);
  loop::BufferNode packed = *loop::MakeBuffer("b", b_type, {columns, kTerms}, loop::Role::kInput);
  if (lanes > 1) packed.layout = *Layout::Parse(fmt::format("NC{}n4c", lanes), 2);
  const loop::Buffer b = std::make_shared<const loop::BufferNode>(packed);
  const loop::Buffer c =
      loop::MakeBuffer("c", DataType::kInt32, {kRows, columns}, loop::Role::kOutput);
  const Expr m = loop::Var("m"), n = loop::Var("n"), lane = loop::Var("lane");
  const Expr o = loop::Var("o"), k = loop::Var("k"), i = loop::Var("i");
  const Expr column = n * Expr(lanes) + lane;
  const Expr term = o * Expr(4) + k;
  const loop::Stmt init = loop::For(
      i, 0, lanes, loop::Store(c, {m, n * Expr(lanes) + i}, loop::IntConst(5, DataType::kInt32)),
      loop::LoopKind::kVectorize);
  const loop::Stmt step =
      loop::Store(c, {m, column},
                  loop::Load(c, {m, column}) +
                      Wide(loop::Load(a, {m, term})) * Wide(loop::Load(b, {column, term})));
  const loop::Stmt sum =
      loop::For(o, 0, kTerms / 4,
                loop::For(lane, 0, lanes, loop::For(k, 0, 4, step, loop::LoopKind::kDot),
                          loop::LoopKind::kVectorize));
  loop::Nest nest;
  nest.name = "dot";
  nest.buffers = {a, b, c};
  nest.launches.push_back({"dot", loop::Phase::kRun,
                           loop::For(m, 0, kRows, loop::For(n, 0, 2, loop::Seq({init, sum})),
                                     loop::LoopKind::kParallel)});
  return nest;
}

TEST(DotProduct, HasTheBitsOfTheLoopItMeans) {
  std::vector<std::string> targets = {"native"};
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    targets.push_back(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={}", cpu));
  }
  for (const std::string& target : targets) {
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

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

std::string AssemblyOf(const std::string& data, const std::string& weight,
                       const std::string& target) {
  const auto def = ops::LowerWorkload(
      fmt::format("fn (p0: Tensor[(16, 64), {}], const p1: Tensor[(64, 64), {}]) {{ nn.dense(p0, "
                  "p1) }} accumulate=int32 numerics=default",
                  data, weight));
  EXPECT_TRUE(def.ok()) << def.status().ToString();
  schedule::Task task;
  task.def = &*def;
  task.target = TestTarget(target);
  const schedule::Template& chosen = schedule::TemplateFor(*def);
  task.signature = chosen.Signatures(*def, task.target)[0];
  const auto nest = chosen.Schedule(task, chosen.Default(task));
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
  };
  for (const Case& c : cases) {
    const std::string assembly = AssemblyOf(c.data, c.weight, c.target);
    EXPECT_GE(Count(assembly, c.instruction), 8) << c.instruction << " " << c.target;
  }
}

}  // namespace
}  // namespace hone::codegen
