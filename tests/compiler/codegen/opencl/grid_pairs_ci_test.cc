// Some pairs of a workload and a config for devices with a grid of threads.
#include <gtest/gtest.h>

#include "tests/compiler/codegen/opencl/grid_pairs.h"
#include "tests/compiler/codegen/opencl/run_kernels.h"
#include "tests/compiler/codegen/opencl/same_results.h"

namespace hone::codegen {
namespace {

TEST(OpenClGridPairs, AreAsInterpreted) {
  HONE_SKIP_WITHOUT_OPENCL();
  CheckGridPairs(/*pairs=*/40, /*seed=*/1);
}

}  // namespace
}  // namespace hone::codegen
