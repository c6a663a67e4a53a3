// Operators on 16-bit floats, which the code for newer GPUs does in 16 bits where that is exact.
#include <fmt/format.h>

#include <string>

#include "compiler/machine/machine.h"
#include "compiler/schedule/template.h"
#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

// All operators in one launch.
loop::Nest DefaultNestOf(const ops::KernelDefinition& def) {
  const Target target = *Target::Parse(kHopperGpu);
  const auto machine = machine::Machine::For(target);
  const auto signatures = schedule::TemplateFor(def, machine).Signatures(def, machine);
  const schedule::Task task{&def, signatures.at(0), target};
  return schedule::NestOfConfig(task, schedule::DefaultOfTask(task)).value();
}

TEST(Halves, CodeGivesWhatTheInterpreterDoes) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const type : {"bfloat16", "float16"}) {
    for (const char* const function : {"tanh", "abs", "negative"}) {
      const std::string workload =
          fmt::format("fn (p0: Tensor[(64,), {}]) {{ {}(p0) }} accumulate=float32 numerics=default",
                      type, function);
      SCOPED_TRACE(workload);
      const auto task = TaskUnderTest::Of(workload, "native");
      ASSERT_TRUE(task.ok()) << task.status();
      ExpectCudaSameAsInterpreter((*task)->def().naive, kHopperGpu, 0x1p-8);
    }
  }
}

// The product rounds by itself, also where a multiply-add of halves would round once.
TEST(Halves, StrictProductsRoundBeforeSums) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const type : {"float16", "bfloat16"}) {
    const std::string workload = fmt::format(
        "fn (p0: Tensor[(64,), {0}], p1: Tensor[(64,), {0}], p2: Tensor[(64,), {0}]) {{ %0 = "
        "multiply(p0, p1); add(%0, p2) }} accumulate=float32 numerics=strict",
        type);
    SCOPED_TRACE(workload);
    const auto task = TaskUnderTest::Of(workload, "native");
    ASSERT_TRUE(task.ok()) << task.status();
    ExpectCudaSameAsInterpreter(DefaultNestOf((*task)->def()), kHopperGpu, /*tolerance=*/0);
  }
}

}  // namespace
}  // namespace hone::codegen
