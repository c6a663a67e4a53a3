// Constants that are equal become one.
#include "compiler/ir/constant_pool.h"

#include <gtest/gtest.h>

#include "compiler/ir/structural.h"

namespace hone::ir {
namespace {

Module AddOf(std::vector<float> values) {
  const Expr x = TensorVar("x", {2}, DataType::kFloat32);
  const Expr constant = ConstantFromBytes({{2}, DataType::kFloat32}, values.data());
  return {{{"main", Function({x}, Call("add", {x, constant}))}}};
}

const ConstantData& DataOf(const Module& module) {
  return Body(*module.functions.at("main"))->args[1]->data;
}

TEST(ConstantPool, ModulesShareWhatIsEqual) {
  ConstantPool pool;
  const Module first = pool.Share(AddOf({1, 2}));
  const Module second = pool.Share(AddOf({1, 2}));
  const Module other = pool.Share(AddOf({1, 3}));
  EXPECT_EQ(DataOf(first).identity(), DataOf(second).identity());
  EXPECT_NE(DataOf(first).identity(), DataOf(other).identity());
  EXPECT_TRUE(StructuralEqual(second, AddOf({1, 2})));
  EXPECT_TRUE(StructuralEqual(other, AddOf({1, 3})));
}

}  // namespace
}  // namespace hone::ir
