// Sparse initializers: what matrix products and others make of them, and damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/import.h"
#include "compiler/ir/printer.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// [[0, 2, 0], [0, 0, 0], [3, 0, 5], [0, 0, 7]], by axis or by linear position.
const std::vector<int64_t> kByAxis = {0, 1, 2, 0, 2, 2, 3, 2};
const std::vector<int64_t> kLinear = {1, 6, 8, 11};

void AddSparse(OnnxMaker& maker, const TensorData& values, const TensorData& indices,
               const std::vector<int64_t>& shape) {
  onnx::SparseTensorProto* proto = maker.proto().mutable_graph()->add_sparse_initializer();
  ToProto(values, "A", proto->mutable_values());
  ToProto(indices, "", proto->mutable_indices());
  for (const int64_t extent : shape) proto->add_dims(extent);
}

OnnxMaker Model(const std::string& op, const std::vector<std::string>& operands,
                const std::vector<int64_t>& x, bool linear = false) {
  OnnxMaker maker;
  AddSparse(maker, FloatTensor({4}, {2, 3, 5, 7}),
            linear ? IntTensor({4}, kLinear) : IntTensor({4, 2}, kByAxis), {4, 3});
  maker.Input("x", x).Node(op, operands, {"y"}).Output("y");
  return maker;
}

std::string TextOf(const OnnxMaker& maker) {
  const auto module = ImportOnnxBytes(maker.Bytes());
  return module.ok() ? ir::ToText(*module) : std::string(module.status().message());
}

std::vector<float> ResultOf(const OnnxMaker& maker, const TensorData& x) {
  const auto module = ImportOnnxBytes(maker.Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto result = RunModel(*module, {x});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? Floats((*result)[0]) : std::vector<float>();
}

TEST(OnnxSparseTest, AMatrixOnTheLeftStaysSparse) {
  for (const bool linear : {false, true}) {
    const OnnxMaker maker = Model("MatMul", {"A", "x"}, {3, 2}, linear);
    EXPECT_THAT(TextOf(maker), HasSubstr("nn.sparse_dense"));
    EXPECT_THAT(TextOf(maker), Not(HasSubstr("(4, 3)")));
    EXPECT_THAT(ResultOf(maker, FloatTensor({3, 2}, {1, 10, 2, 20, 3, 30})),
                ElementsAre(4, 40, 0, 0, 18, 180, 21, 210));
  }
}

TEST(OnnxSparseTest, AMatrixOnTheRightIsTurnedAndStaysSparse) {
  const OnnxMaker maker = Model("MatMul", {"x", "A"}, {2, 4});
  EXPECT_THAT(TextOf(maker), HasSubstr("nn.sparse_dense"));
  EXPECT_THAT(TextOf(maker), Not(HasSubstr("(4, 3)")));
  EXPECT_THAT(ResultOf(maker, FloatTensor({2, 4}, {1, 2, 3, 4, 10, 20, 30, 40})),
              ElementsAre(9, 2, 43, 90, 20, 430));
}

TEST(OnnxSparseTest, VectorsHaveNoAxisOfTheirOwn) {
  EXPECT_THAT(ResultOf(Model("MatMul", {"A", "x"}, {3}), FloatTensor({3}, {1, 2, 3})),
              ElementsAre(4, 0, 18, 21));
  EXPECT_THAT(ResultOf(Model("MatMul", {"x", "A"}, {4}), FloatTensor({4}, {1, 2, 3, 4})),
              ElementsAre(9, 2, 43));
}

TEST(OnnxSparseTest, OthersGetItWithItsZeros) {
  EXPECT_THAT(ResultOf(Model("Add", {"A", "x"}, {1}), FloatTensor({1}, {1})),
              ElementsAre(1, 3, 1, 1, 1, 1, 4, 1, 6, 1, 1, 8));
  // A stack of matrices.
  EXPECT_THAT(ResultOf(Model("MatMul", {"A", "x"}, {1, 3, 1}), FloatTensor({1, 3, 1}, {1, 2, 3})),
              ElementsAre(4, 0, 18, 21));
}

TEST(OnnxSparseTest, ExtentsMustFit) {
  EXPECT_THAT(TextOf(Model("MatMul", {"A", "x"}, {4, 2})), HasSubstr("cannot be multiplied"));
  EXPECT_THAT(TextOf(Model("MatMul", {"x", "A"}, {2, 3})), HasSubstr("cannot be multiplied"));
}

std::string ErrorWith(const TensorData& values, const TensorData& indices,
                      const std::vector<int64_t>& shape, const char* op = "MatMul") {
  OnnxMaker maker;
  AddSparse(maker, values, indices, shape);
  maker.Input("x", {3, 2}).Node(op, {"A", "x"}, {"y"}).Output("y");
  return TextOf(maker);
}

TEST(OnnxSparseTest, DamagedOnesAreNamed) {
  const TensorData values = FloatTensor({4}, {2, 3, 5, 7});
  EXPECT_THAT(ErrorWith(values, IntTensor({3}, {0, 1, 2}), {4, 3}),
              HasSubstr("sparse initializer \"A\": int64 indices"));
  for (const std::vector<int64_t>& wrong :
       {std::vector<int64_t>{0, 1, 1, 2}, {0, 2, 1, 3}, {-1, 0, 1, 2}, {0, 1, 2, 12}}) {
    EXPECT_THAT(ErrorWith(values, IntTensor({4}, wrong), {4, 3}), HasSubstr("that ascend"));
  }
  EXPECT_THAT(ErrorWith(values, IntTensor({4, 2}, {0, 1, 0, 3, 2, 2, 3, 2}), {4, 3}),
              HasSubstr("that ascend"));
  EXPECT_THAT(ErrorWith(values, IntTensor({4}, kLinear), {}), HasSubstr("a shape"));
  EXPECT_THAT(ErrorWith(values, IntTensor({4}, kLinear), {-4, 3}), HasSubstr("sparse initializer"));
}

// A file of a few bytes must not ask for a machine's memory.
TEST(OnnxSparseTest, HugeShapesAreRefused) {
  const TensorData values = FloatTensor({1}, {2});
  EXPECT_THAT(ErrorWith(values, IntTensor({1}, {0}), {int64_t{1} << 40, 3}),
              HasSubstr("more than a model may ask for"));
  EXPECT_THAT(ErrorWith(values, IntTensor({1}, {0}), {1 << 20, 1 << 20}, "Add"),
              HasSubstr("more than a model may ask for"));
}

}  // namespace
}  // namespace hone::frontend
