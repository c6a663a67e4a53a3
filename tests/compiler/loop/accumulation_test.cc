// What is recognised as a sum of products of bytes or of bfloat16.
#include "compiler/loop/accumulation.h"

#include <gtest/gtest.h>

namespace hone::loop {
namespace {

Buffer BufferOfEight(const std::string& name, DataType dtype) {
  auto buffer = std::make_shared<BufferNode>();
  buffer->name = name;
  buffer->dtype = dtype;
  buffer->shape = {8};
  buffer->layout = Layout::RowMajor(1);
  return buffer;
}

// c[at] = c[at] + wide(a[k]) * wide(b[k]), c of `sum`, a of `data` and b of `weight`.
struct Product {
  Expr k = Var("k");
  DataType weight = DataType::kInt8;
  Stmt Make(DataType sum, DataType data, const Expr& at, BinaryOp op = BinaryOp::kAdd) const {
    const Buffer a = BufferOfEight("a", data);
    const Buffer b = BufferOfEight("b", weight);
    const Buffer c = BufferOfEight("c", sum);
    const Expr product = Cast(sum, Load(a, {k})) * Cast(sum, Load(b, {k}));
    return Store(c, {at}, Binary(op, Load(c, {at}), product));
  }
};

TEST(SummedDotFactors, AreThoseOfASumInInt32OfTwoWidenedBytes) {
  const Product of;
  const auto loads =
      SummedDotFactors(of.Make(DataType::kInt32, DataType::kUInt8, IntConst(0)), of.k);
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0]->buffer->name, "a");
  EXPECT_EQ(loads[1]->buffer->name, "b");
}

TEST(SummedDotFactors, AreThoseOfASumInFloat32OfTwoWidenedBFloat16) {
  constexpr DataType kHalf = DataType::kBFloat16;
  Product of;
  of.weight = kHalf;
  const Expr zero = IntConst(0);
  EXPECT_EQ(SummedDotFactors(of.Make(DataType::kFloat32, kHalf, zero), of.k).size(), 2U);
  const auto none = [&](const Stmt& s) { return SummedDotFactors(s, of.k).empty(); };
  EXPECT_TRUE(none(of.Make(DataType::kFloat64, kHalf, zero)));
  EXPECT_TRUE(none(of.Make(DataType::kInt32, kHalf, zero)));
  EXPECT_TRUE(none(of.Make(DataType::kFloat32, DataType::kFloat16, zero)));
  of.weight = DataType::kInt8;
  EXPECT_TRUE(none(of.Make(DataType::kFloat32, kHalf, zero)));
}

TEST(SummedDotFactors, AreOfNothingElse) {
  const Product of;
  const Expr zero = IntConst(0);
  const auto none = [&](const Stmt& s) { return SummedDotFactors(s, of.k).empty(); };
  EXPECT_TRUE(none(of.Make(DataType::kInt32, DataType::kInt16, zero)));
  EXPECT_TRUE(none(of.Make(DataType::kInt64, DataType::kInt8, zero)));
  EXPECT_TRUE(none(of.Make(DataType::kInt32, DataType::kInt8, zero, BinaryOp::kMax)));
  EXPECT_TRUE(none(of.Make(DataType::kInt32, DataType::kInt8, of.k)));  // an element a step
  EXPECT_TRUE(none(For(of.k, zero, IntConst(4), of.Make(DataType::kInt32, DataType::kInt8, zero))));
}

// c = c + wide(a[k]) * ((w >> 8 * k + by) & mask), the word the same for all steps or not.
Stmt OfWord(const Expr& k, const Expr& shift, int64_t mask, const Expr& word_at) {
  const Buffer a = BufferOfEight("a", DataType::kInt8), w = BufferOfEight("w", DataType::kInt32);
  const Buffer c = BufferOfEight("c", DataType::kInt32);
  const Expr shifted =
      Binary(BinaryOp::kShiftRight, Load(w, {word_at}), Cast(DataType::kInt32, shift));
  const Expr part = Binary(BinaryOp::kBitAnd, shifted, IntConst(mask, DataType::kInt32));
  const Expr product = Cast(DataType::kInt32, Load(a, {k})) * part;
  return Store(c, {IntConst(0)}, Load(c, {IntConst(0)}) + product);
}

TEST(DotFactors, MayBePartsOfTheBytesOfAWord) {
  const Expr k = Var("k");
  const auto factors = DotFactorsOf(OfWord(k, k * Expr(8) + Expr(4), 15, IntConst(2)), k);
  ASSERT_EQ(factors.size(), 2U);
  EXPECT_FALSE(factors[0].shift);
  EXPECT_EQ(factors[1].load->buffer->name, "w");
  EXPECT_EQ(factors[1].mask, 15);
  EXPECT_TRUE(SummedDotFactors(OfWord(k, k * Expr(8), 15, IntConst(2)), k).empty());
}

TEST(DotFactors, AreNoOtherPartsOfWords) {
  const Expr k = Var("k");
  EXPECT_TRUE(DotFactorsOf(OfWord(k, k * Expr(4), 15, IntConst(0)), k).empty());
  EXPECT_TRUE(DotFactorsOf(OfWord(k, k * Expr(8), 256, IntConst(0)), k).empty());
  EXPECT_TRUE(DotFactorsOf(OfWord(k, k * Expr(8), 15, k), k).empty());
  EXPECT_TRUE(DotFactorsOf(OfWord(k, k * Expr(8) - Expr(4), 15, IntConst(0)), k).empty());
}

}  // namespace
}  // namespace hone::loop
