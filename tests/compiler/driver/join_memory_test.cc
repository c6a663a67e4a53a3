// What is concatenated lies in the whole from its first part on: for how much memory, and where it
// is copied instead.
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/parser.h"
#include "compiler/passes/infer_type.h"
#include "fmt/format.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::driver {
namespace {

// A network of convolutions in the text form. Layers return the name of their result.
class NetText {
 public:
  NetText(int64_t channels, int64_t size) {
    text_ =
        fmt::format("def @main(%x: Tensor[(1, {}, {}, {}), float32]) {{\n", channels, size, size);
  }

  // A convolution of 3x3 taps, with relu.
  std::string Conv(const std::string& x, int64_t from, int64_t to) {
    const std::string sum =
        Add(fmt::format("nn.conv2d({}, {}, padding=[1, 1, 1, 1])", x,
                        Weight(fmt::format("{}, {}, 3, 3", to, from), from * to * 9)));
    return Add(fmt::format("nn.relu({})", sum));
  }
  std::string Halve(const std::string& x) {
    return Add(fmt::format("nn.max_pool2d({}, pool_size=[2, 2], strides=[2, 2])", x));
  }
  std::string Double(const std::string& x, int64_t from, int64_t to) {
    const std::string sum =
        Add(fmt::format("nn.conv2d_transpose({}, {}, strides=[2, 2])", x,
                        Weight(fmt::format("{}, {}, 2, 2", from, to), from * to * 4)));
    return Add(fmt::format("nn.relu({})", sum));
  }
  // A relu behind it changes nothing and has it copied.
  std::string Concat(const std::string& a, const std::string& b, bool copied) {
    const std::string whole = Add(fmt::format("concatenate(({}, {}), axis=1)", a, b));
    return copied ? Add(fmt::format("nn.relu({})", whole)) : whole;
  }

  ir::Module Finish(const std::string& result) const {
    const auto module = ir::ParseModule(text_ + result + "\n}\n" + constants_);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return {};
    const auto typed = passes::InferTypes(*module);
    EXPECT_TRUE(typed.ok()) << typed.status();
    return typed.ok() ? *typed : ir::Module();
  }

 private:
  std::string Add(const std::string& call) {
    const std::string name = fmt::format("%{}", values_++);
    text_ += fmt::format("  {} = {};\n", name, call);
    return name;
  }

  // A weight of small numbers with a mean of about zero.
  std::string Weight(const std::string& shape, int64_t count) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<float>(i * 37 % 101 - 50) / 500);
    const absl::string_view bytes(reinterpret_cast<const char*>(values.data()),
                                  values.size() * sizeof(float));
    const std::string name = fmt::format("meta[Constant][{}]", weights_++);
    constants_ +=
        fmt::format("{} = Tensor[({}), float32] \"{}\";\n", name, shape, absl::Base64Escape(bytes));
    return name;
  }

  std::string text_;
  std::string constants_;
  int values_ = 0;
  int weights_ = 0;
};

// Four levels down and up again, of twice the channels and half the size each.
ir::Module UNet(int64_t channels, int64_t size, bool copied) {
  constexpr int kLevels = 4;
  NetText net(3, size);
  std::string x = "%x";
  std::vector<std::string> skips;
  int64_t width = 3;
  for (int level = 0; level <= kLevels; ++level) {
    const int64_t to = channels << level;
    x = net.Conv(net.Conv(x, width, to), to, to);
    width = to;
    if (level == kLevels) break;
    skips.push_back(x);
    x = net.Halve(x);
  }
  for (int level = kLevels; level-- > 0;) {
    const int64_t to = channels << level;
    x = net.Concat(skips[static_cast<size_t>(level)], net.Double(x, 2 * to, to), copied);
    x = net.Conv(net.Conv(x, 2 * to, to), to, to);
  }
  return net.Finish(x);
}

// A few channels of the beginning are joined with many of the end.
ir::Module LongSkip(int64_t few, int64_t many, int64_t size, bool copied) {
  NetText net(3, size);
  const std::string first = net.Conv("%x", 3, few);
  std::string x = net.Conv(first, few, many);
  for (int i = 0; i < 2; ++i) x = net.Conv(x, many, many);
  return net.Finish(net.Conv(net.Concat(first, x, copied), few + many, 4));
}

CompileReport ReportOf(const ir::Module& module) {
  auto compiled = Compiled::Make(module, {.target = HostTarget(), .require_tuned = false});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? compiled->report() : CompileReport();
}

// Kernels that join.
int CopiesOf(const CompileReport& report) {
  int calls = 0;
  for (const KernelReport& kernel : report.kernels) {
    calls += kernel.name.starts_with("concatenate") ? kernel.calls : 0;
  }
  return calls;
}

// Where a U-Net needs most, its first level's concatenation, a copy needs parts and whole.
TEST(JoinMemory, UNetsNeedLessForWhatIsJoined) {
  const CompileReport joined = ReportOf(UNet(16, 128, false));
  const CompileReport copied = ReportOf(UNet(16, 128, true));
  EXPECT_EQ(CopiesOf(joined), 0);
  EXPECT_EQ(CopiesOf(copied), 4);
  EXPECT_LE(joined.peak_live_bytes, copied.peak_live_bytes);
}

TEST(JoinMemory, UNetsComputeWhatTheInterpreterDoes) {
  const ir::Module module = UNet(8, 16, false);
  const std::vector<frontend::TensorData> inputs = frontend::InputsOf(module);
  const auto expected = frontend::RunModel(module, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  auto compiled = Compiled::Make(module, {.target = HostTarget(), .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const int threads : {1, 2}) {
    const auto outputs = compiled->Run(inputs, threads);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(FirstDifference((*outputs)[0], (*expected)[0], 1e-3, 1e-4), "");
  }
}

// The whole would be alive beside the largest values of the network.
TEST(JoinMemory, AFewChannelsAreNotKeptForMany) {
  const CompileReport joined = ReportOf(LongSkip(16, 128, 64, false));
  const CompileReport copied = ReportOf(LongSkip(16, 128, 64, true));
  EXPECT_EQ(CopiesOf(joined), 1);
  EXPECT_LE(joined.peak_live_bytes, copied.peak_live_bytes);
}

// Little memory is not worth a copy.
TEST(JoinMemory, SmallMapsAreJoined) {
  EXPECT_EQ(CopiesOf(ReportOf(LongSkip(16, 128, 8, false))), 0);
}

}  // namespace
}  // namespace hone::driver
