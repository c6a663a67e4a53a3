// Many pairs of a workload and a config for GPUs of CUDA. HONE_RANDOM_SEED=N draws others.
#include <gtest/gtest.h>

#include "tests/compiler/codegen/grid_pairs.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"

namespace hone::codegen {
namespace {

void CheckPairs(const char* target, uint64_t seed, int count) {
  GridPairs pairs(target, seed, CheckByCuda(target));
  pairs.Run(count);
  pairs.coverage().ExpectAllStrategies();
  pairs.coverage().ExpectAllKnobs();
}

TEST(CudaGridPairs, ManyAreAsInterpretedOnHopper) {
  HONE_SKIP_WITHOUT_CUDA();
  CheckPairs(kHopperGpu, /*seed=*/3, 1400);
}

TEST(CudaGridPairs, ManyAreAsInterpretedOnAmpere) {
  HONE_SKIP_WITHOUT_CUDA();
  CheckPairs(kAmpere, /*seed=*/4, 600);
}

}  // namespace
}  // namespace hone::codegen
