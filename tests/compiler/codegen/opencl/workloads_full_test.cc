// More kernels of every family compute in OpenCL C what the interpreter does. PoCL takes a second
// or more for each, which it compiles.
#include <gtest/gtest.h>

#include <string>

#include "tests/compiler/codegen/opencl/run_kernels.h"
#include "tests/compiler/codegen/opencl/same_results.h"
#include "tests/compiler/codegen/opencl/workload_check.h"
#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {
namespace {

class OpenClWorkloads : public testing::TestWithParam<Family> {};

TEST_P(OpenClWorkloads, AreAsInterpreted) {
  HONE_SKIP_WITHOUT_OPENCL();
  CheckOpenClFamily(GetParam(), /*workloads=*/4, /*configs=*/2);
}

INSTANTIATE_TEST_SUITE_P(Families, OpenClWorkloads, testing::ValuesIn(AllFamilies()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hone::codegen
