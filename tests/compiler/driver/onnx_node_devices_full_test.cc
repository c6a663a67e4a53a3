#include "tests/compiler/driver/device_here.h"
#include "tests/compiler/driver/onnx_node.h"

namespace hone::driver {
namespace {

class OnnxNodeOnDevices : public OnnxNode, public ::testing::WithParamInterface<DeviceKind> {};

TEST_P(OnnxNodeOnDevices, NoCaseIsWrong) {
  HONE_SKIP_WITHOUT(GetParam());
  ExpectNoneWrong(*Target::Parse(GetParam().target), 585);
}

INSTANTIATE_TEST_SUITE_P(All, OnnxNodeOnDevices, ::testing::ValuesIn(DeviceKinds()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hone::driver
