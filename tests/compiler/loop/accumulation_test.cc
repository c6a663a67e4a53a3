// What is recognised as a sum of products of bytes.
#include "compiler/loop/accumulation.h"

#include <gtest/gtest.h>

namespace hone::loop {
namespace {

Buffer MakeBuffer(const std::string& name, DataType dtype) {
  auto buffer = std::make_shared<BufferNode>();
  buffer->name = name;
  buffer->dtype = dtype;
  buffer->shape = {8};
  buffer->layout = Layout::RowMajor(1);
  return buffer;
}

// c[at] = c[at] + int32(a[k]) * int32(b[k]), c of `sum` and a of `data`.
struct Product {
  Expr k = Var("k");
  Stmt Make(DataType sum, DataType data, const Expr& at, BinaryOp op = BinaryOp::kAdd) const {
    const Buffer a = MakeBuffer("a", data);
    const Buffer b = MakeBuffer("b", DataType::kInt8);
    const Buffer c = MakeBuffer("c", sum);
    const Expr product = Cast(sum, Load(a, {k})) * Cast(sum, Load(b, {k}));
    return Store(c, {at}, Binary(op, Load(c, {at}), product));
  }
};

TEST(SummedByteProduct, IsASumInInt32OfTwoWidenedBytes) {
  const Product of;
  const auto loads =
      SummedByteProduct(of.Make(DataType::kInt32, DataType::kUInt8, IntConst(0)), of.k);
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0]->buffer->name, "a");
  EXPECT_EQ(loads[1]->buffer->name, "b");
}

TEST(SummedByteProduct, IsNothingElse) {
  const Product of;
  const Expr zero = IntConst(0);
  const auto none = [&](const Stmt& s) { return SummedByteProduct(s, of.k).empty(); };
  EXPECT_TRUE(none(of.Make(DataType::kInt32, DataType::kInt16, zero)));
  EXPECT_TRUE(none(of.Make(DataType::kInt64, DataType::kInt8, zero)));
  EXPECT_TRUE(none(of.Make(DataType::kInt32, DataType::kInt8, zero, BinaryOp::kMax)));
  EXPECT_TRUE(none(of.Make(DataType::kInt32, DataType::kInt8, of.k)));  // an element a step
  EXPECT_TRUE(none(For(of.k, zero, IntConst(4), of.Make(DataType::kInt32, DataType::kInt8, zero))));
}

}  // namespace
}  // namespace hone::loop
