// Some pairs of a workload and a config for GPUs of CUDA, of the latest kind and of an older one.
#include <gtest/gtest.h>

#include "tests/compiler/codegen/grid_pairs.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"

namespace hone::codegen {
namespace {

TEST(CudaGridPairs, AreAsInterpretedOnHopper) {
  HONE_SKIP_WITHOUT_CUDA();
  GridPairs pairs(kHopperGpu, /*seed=*/1, CheckByCuda(kHopperGpu));
  pairs.Run(70);
  pairs.coverage().ExpectAllStrategies();
}

TEST(CudaGridPairs, AreAsInterpretedOnAmpere) {
  HONE_SKIP_WITHOUT_CUDA();
  GridPairs pairs(kAmpere, /*seed=*/2, CheckByCuda(kAmpere));
  pairs.Run(25);
  pairs.coverage().ExpectAllStrategies();
}

}  // namespace
}  // namespace hone::codegen
