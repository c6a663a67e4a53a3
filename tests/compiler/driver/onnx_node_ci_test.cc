#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/driver/onnx_node.h"

namespace hone::driver {
namespace {

TEST_F(OnnxNode, NoCaseIsWrongOnCompiledCode) { ExpectNoneWrong(HostTarget(), 585); }

}  // namespace
}  // namespace hone::driver
