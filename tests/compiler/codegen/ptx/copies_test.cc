// Copies to shared memory that run ahead in slots: in the background where an instruction does
// what a store says, and everywhere with what the interpreter says.
#include <fmt/format.h>

#include <string>

#include "compiler/loop/parser.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"

namespace hone::codegen {
namespace {

// Sums over the rows of a matrix, of which steps of 32 columns are copied.
struct Pipelined {
  std::string dtype = "float32";
  int64_t vector = 1;  // elements that a thread copies at once
  int64_t slots = 3;
  int64_t steps = 5;
  std::string index = "{}";          // of the column that is copied, by the column
  std::string value = "%a[{}, {}]";  // copied, by row and column
};

constexpr int64_t kRows = 8;
constexpr int64_t kColumns = 32;  // of a step

std::string CopyOfStep(const Pipelined& p, const std::string& name, const std::string& slot,
                       const std::string& step) {
  const std::string column = fmt::format("v{0} * {1} + e{0}", name, p.vector);
  const std::string from =
      fmt::format(fmt::runtime(p.index), fmt::format("{} * {} + {}", step, kColumns, column));
  const std::string store = fmt::format("%s[{}, r{}, {}] = {}", slot, name, column,
                                        fmt::format(fmt::runtime(p.value), "r" + name, from));
  const std::string element = fmt::format("vectorize e{} in 0..{} {{{}}}", name, p.vector, store);
  const std::string guarded =
      name == "a" ? element : fmt::format("if {} < {} {{{}}}", step, p.steps, element);
  return fmt::format("thread r{0} in 0..{1} {{thread v{0} in 0..{2} {{{3}}}}}", name, kRows,
                     kColumns / p.vector, guarded);
}

loop::Nest PipelinedNest(const Pipelined& p) {
  const std::string later = fmt::format("(k + {})", p.slots - 1);
  const std::string text = fmt::format(
      R"(nest @sums {{
      input %a: {0}[{1}, {2}] NC
      output %c: float32[{1}, 32] NC
      run @go {{parallel b in 0..1 {{alloc register %t: float32[{1}, 32] NC {{
        thread y0 in 0..{1} {{thread x0 in 0..32 {{%t[y0, x0] = 0.0}}}}
        alloc shared %s: {0}[{3}, {1}, {4}] NCW {{
          for f in 0..{5} {{{6}}}
          for k in 0..{7} {{
            {8}
            thread y in 0..{1} {{thread x in 0..32 {{
              %t[y, x] = %t[y, x] + cast<float32>(%s[floormod(k, {3}), {1} + -1 - y, 31 - x])}}}}}}}}
        thread y1 in 0..{1} {{thread x1 in 0..32 {{%c[y1, x1] = %t[y1, x1]}}}}}}}}}}}})",
      p.dtype, kRows, p.steps * kColumns, p.slots, kColumns, p.slots - 1,
      CopyOfStep(p, "a", "f", "f"), p.steps,
      CopyOfStep(p, "b", fmt::format("floormod(k + {}, {})", p.slots - 1, p.slots), later));
  const auto nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return nest.ok() ? *nest : loop::Nest();
}

struct Case {
  Pipelined shape;
  bool is_in_background = true;
};

const Case kCases[] = {
    {{}},
    {{.vector = 2}},
    {{.vector = 4}},
    {{.vector = 4, .slots = 2}},
    {{.vector = 4, .slots = 5}},
    {{.dtype = "bfloat16", .vector = 2}},
    {{.dtype = "bfloat16", .vector = 8, .slots = 4, .steps = 9}},
    {{.dtype = "float16", .vector = 4}},
    // Zeros where a condition leaves elements out.
    {{.vector = 4, .value = "select({0} < 5, %a[{0}, {1}], 0.0)"}},
    {{.value = "select({1} < 70, %a[{0}, {1}], 0.0)"}},
    {{.value = "select({0} < 5, select({1} < 70, %a[{0}, {1}], 0.0), 0.0)"}},
    // Not what an instruction does: two bytes, computed values, other elements than zero, a part of
    // a vector, elements apart or at odd places.
    {{.dtype = "bfloat16"}, false},
    {{.value = "%a[{}, {}] * 2.0"}, false},
    {{.vector = 4, .value = "select({0} < 5, %a[{0}, {1}], 1.0)"}, false},
    {{.vector = 4, .value = "select(floormod({1}, 2) == 0, %a[{0}, {1}], 0.0)"}, false},
    {{.vector = 4, .index = "159 - ({})"}, false},
    {{.vector = 4, .index = "max({} + -1, 0)"}, false},
};

TEST(Copies, GiveWhatTheInterpreterDoes) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const auto& [shape, is_in_background] : kCases) {
    SCOPED_TRACE(fmt::format("{} vector {} slots {} index {} value {}", shape.dtype, shape.vector,
                             shape.slots, shape.index, shape.value));
    ExpectCudaSameAsInterpreter(PipelinedNest(shape), kAmpere, 1e-6);
    if (HasFailure()) return;
  }
}

TEST(Copies, AreInTheBackgroundWhereAnInstructionDoesThem) {
  for (const auto& [shape, is_in_background] : kCases) {
    const std::string ptx = PtxOf(PipelinedNest(shape), kAmpere);
    SCOPED_TRACE(ptx);
    EXPECT_EQ(Count(ptx, ".shared.global") > 0, is_in_background);
    if (shape.slots > 2 && is_in_background) {
      EXPECT_GT(Count(ptx, fmt::format("cp.async.wait_group {}", shape.slots - 2)), 0);
    }
  }
  EXPECT_EQ(Count(PtxOf(PipelinedNest({}), kTuring), "cp.async"), 0);
}

}  // namespace
}  // namespace hone::codegen
