// Some pairs of a workload and a config for devices with a grid of threads.
#include <gtest/gtest.h>

#include "tests/compiler/codegen/grid_pairs.h"
#include "tests/compiler/codegen/opencl/run_kernels.h"
#include "tests/compiler/codegen/opencl/same_results.h"

namespace hone::codegen {
namespace {

TEST(OpenClGridPairs, AreAsInterpreted) {
  HONE_SKIP_WITHOUT_OPENCL();
  GridPairs pairs(kOpenClGrid, /*seed=*/1, CheckByOpenCl);
  pairs.Run(60);
  pairs.coverage().ExpectAllStrategies();
}

}  // namespace
}  // namespace hone::codegen
