// Many pairs of a workload and a config for devices with a grid of threads, each of which PoCL
// compiles.
#include <gtest/gtest.h>

#include "tests/compiler/codegen/opencl/grid_pairs.h"
#include "tests/compiler/codegen/opencl/run_kernels.h"
#include "tests/compiler/codegen/opencl/same_results.h"

namespace hone::codegen {
namespace {

TEST(OpenClGridPairs, TwoThousandAreAsInterpreted) {
  HONE_SKIP_WITHOUT_OPENCL();
  CheckGridPairs(/*pairs=*/2000, /*seed=*/2);
}

}  // namespace
}  // namespace hone::codegen
