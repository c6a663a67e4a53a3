// Convolutions and pools that took an nn.pad in compute what they did behind it.
#include <gtest/gtest.h>

#include "compiler/frontend/zoo/net_builder.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::driver {
namespace {

using frontend::NetBuilder;
using ir::Expr;

Expr Padded(const Expr& x, Random& random) {
  std::vector<int64_t> widths(4, 0);
  for (int i = 0; i < 4; ++i) widths.push_back(static_cast<int64_t>(random.Below(3)));
  return NetBuilder::Call("nn.pad", {x}, {{"pad_width", widths}});
}

// Plain, depthwise and strided convolutions, with padding of their own or without, and pools.
TEST(Pads, OfRandomWidthsGiveTheInterpretersNumbers) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Random random(seed);
    NetBuilder net(seed);
    const auto any = [&](uint64_t most) { return static_cast<int64_t>(random.Below(most)); };
    Expr x = net.Image(1 + any(5), {14 + any(5), 14 + any(5)});
    x = net.ConvBiasRelu(Padded(x, random), {16 + any(2), 3, 1 + any(2), any(2)});
    x = net.ConvBiasRelu(Padded(x, random),
                         {.channels = x->type->tensor.shape[1], .kernel = 3, .depthwise = true});
    x = net.MaxPool(Padded(x, random), {3, 1});
    x = net.AvgPool(Padded(x, random), {3, 1});
    x = net.ConvBiasRelu(Padded(x, random), {8, 1});
    const ir::Module module = net.Finish(x);
    const std::vector<frontend::TensorData> inputs = frontend::InputsOf(module);
    const auto expected = frontend::RunModel(module, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    auto compiled = Compiled::Make(module, {.target = HostTarget(), .require_tuned = false});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    for (const KernelReport& kernel : compiled->report().kernels) {
      EXPECT_EQ(kernel.workload.find("nn.pad"), std::string::npos) << kernel.workload;
    }
    const auto outputs = compiled->Run(inputs, 1);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(FirstDifference((*outputs)[0], (*expected)[0], 1e-3, 1e-4), "") << seed;
  }
}

}  // namespace
}  // namespace hone::driver
