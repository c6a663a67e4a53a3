// The operators of a type of each sort compute in OpenCL C what the interpreter does.
#include "tests/compiler/codegen/opencl/operators_suite.h"

namespace hone::codegen {
namespace {

INSTANTIATE_TEST_SUITE_P(SomeTypes, OpenClOperators,
                         testing::Values(DataType::kFloat32, DataType::kBFloat16, DataType::kInt8,
                                         DataType::kInt64, DataType::kUInt32, DataType::kBool),
                         [](const auto& info) { return std::string(Name(info.param)); });

TEST(OpenClMinMax, PropagatesNan) {
  HONE_SKIP_WITHOUT_OPENCL();
  ExpectOpenClSameAsInterpreter(NanNest(), 0);
}

}  // namespace
}  // namespace hone::codegen
