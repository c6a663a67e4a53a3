// Functions of 16-bit floats, whose signs the code for newer GPUs changes in 16 bits.
#include <fmt/format.h>

#include <string>

#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"

namespace hone::codegen {
namespace {

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

}  // namespace
}  // namespace hone::codegen
