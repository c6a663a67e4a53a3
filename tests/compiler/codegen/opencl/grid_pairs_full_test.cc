// Many pairs of a workload and a config for devices with a grid of threads, each of which PoCL
// compiles. HONE_RANDOM_SEED=N draws others.
#include <gtest/gtest.h>

#include "tests/compiler/codegen/grid_pairs.h"
#include "tests/compiler/codegen/opencl/run_kernels.h"
#include "tests/compiler/codegen/opencl/same_results.h"

namespace hone::codegen {
namespace {

TEST(OpenClGridPairs, TwoThousandAreAsInterpreted) {
  HONE_SKIP_WITHOUT_OPENCL();
  GridPairs pairs(kOpenClGrid, /*seed=*/2, CheckByOpenCl);
  pairs.Run(2000);
  pairs.coverage().ExpectAllStrategies();
  pairs.coverage().ExpectAllKnobs();
}

}  // namespace
}  // namespace hone::codegen
