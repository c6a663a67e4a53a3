#include "tests/compiler/driver/onnx_node.h"
#include "tests/compiler/driver/opencl_here.h"

namespace hone::driver {
namespace {

TEST_F(OnnxNode, NoCaseIsWrongOnADeviceOfOpenCl) {
  const std::optional<Target> target = OpenClHere();
  if (!target) GTEST_SKIP() << "no device of OpenCL here; PoCL makes one of the processor";
  ExpectNoneWrong(*target, 585);
}

}  // namespace
}  // namespace hone::driver
