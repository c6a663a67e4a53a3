// nn.scaled_dense against plain loops.
#include <gtest/gtest.h>

#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

constexpr double kInt32Low = -2147483648.0, kInt32High = 2147483647.0;

// Number i of those of 4 bits that a word holds.
double NumberOf(double word, int64_t i) {
  const auto bits = static_cast<uint32_t>(static_cast<int64_t>(word));
  return static_cast<double>((bits >> (8 * (i % 4) + 4 * (i / 4))) & 15);
}

struct Case {
  int64_t rows, units, terms, blocks, bits;
  bool offsets;
  int64_t digits = 0;
};

TEST(ScaledDense, SumsBlocksOfTermsWithAScaleEach) {
  for (const Case& c :
       {Case{1, 3, 16, 1, 8, false}, Case{3, 5, 24, 3, 8, true}, Case{2, 4, 48, 2, 4, false},
        Case{2, 3, 32, 4, 4, true}, Case{2, 3, 64, 2, 8, true, 3}, Case{3, 2, 48, 3, 8, false, 3},
        Case{2, 3, 64, 2, 4, true, 3}, Case{2, 3, 64, 2, 8, true, 2},
        Case{1, 5, 32, 1, 4, false, 2}}) {
    const TestTensor data = RandomTensor({c.rows, c.terms}, 1);
    const TestTensor weight =
        c.bits == 8
            ? RandomTensor({c.units, c.terms}, 2,
                           c.digits == 0 ? DataType::kInt8 : DataType::kUInt8,
                           c.digits == 0 ? -128 : 0, c.digits == 0 ? 127 : 255)
            : RandomTensor({c.units, c.terms / 8}, 2, DataType::kInt32, kInt32Low, kInt32High);
    const TestTensor scales = RandomTensor({c.units, c.blocks}, 3);
    const TestTensor offsets = RandomTensor({c.units, c.blocks}, 4);
    std::vector<TestTensor> args = {data, weight, scales};
    if (c.offsets) args.push_back(offsets);
    const int64_t centre = c.offsets ? 0 : -8;
    const TestTensor expected = Generate({c.rows, c.units}, [&](const Index& at) {
      double sum = 0;
      for (int64_t k = 0; k < c.terms; ++k) {
        const int64_t b = k / (c.terms / c.blocks);
        const double number =
            c.bits == 8 ? weight.At({at[1], k}) : NumberOf(weight.At({at[1], k / 8}), k % 8);
        const double offset = c.offsets ? offsets.At({at[1], b}) : 0;
        sum += data.At({at[0], k}) *
               (scales.At({at[1], b}) * (number + static_cast<double>(centre)) + offset);
      }
      return sum;
    });
    ExpectNear(RunOp("nn.scaled_dense", args,
                     {{"bits", c.bits}, {"digits", c.digits}, {"centre", centre}}),
               expected, c.digits == 2 ? 1e-3 : 1e-4);
  }
}

TEST(ScaledDense, RefusesOperandsThatDoNotFit) {
  const auto error = [](const ir::TensorType& weight, const ir::TensorType& scales, int64_t bits) {
    return InferenceError("nn.scaled_dense", {{{2, 32}, DataType::kFloat32}, weight, scales},
                          {{"bits", bits}});
  };
  const ir::TensorType bytes = {{4, 32}, DataType::kInt8}, words = {{4, 4}, DataType::kInt32};
  const ir::TensorType scales = {{4, 2}, DataType::kFloat32};
  EXPECT_EQ(error(bytes, scales, 8), "");
  EXPECT_EQ(error(words, scales, 4), "");
  EXPECT_NE(error(words, scales, 8).find("operand weight: expected 32 terms of 8 bits"),
            std::string::npos);
  EXPECT_NE(error(bytes, scales, 3).find("expected 4 or 8, found 3"), std::string::npos);
  EXPECT_NE(error(bytes, {{4, 3}, DataType::kFloat32}, 8).find("operand scales"),
            std::string::npos);
  EXPECT_NE(error(words, {{4, 8}, DataType::kFloat32}, 4).find("operand scales"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::ops
