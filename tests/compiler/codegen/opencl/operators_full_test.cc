// The operators of every type compute in OpenCL C what the interpreter does.
#include "tests/compiler/codegen/opencl/operators_suite.h"

namespace hone::codegen {
namespace {

INSTANTIATE_TEST_SUITE_P(EveryType, OpenClOperators, testing::ValuesIn(kEveryType),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace hone::codegen
