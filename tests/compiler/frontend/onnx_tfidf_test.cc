// TfIdfVectorizer against values of ONNX's reference evaluator (1.23) and onnxruntime (1.31).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Counting {
  std::string mode = "TF";
  int64_t shortest = 1;
  int64_t longest = 2;
  int64_t skips = 0;
  std::vector<int64_t> columns = {0, 1, 2, 3, 4, 5, 6};
};

// Four items, then three pairs of the same: (5, 6), (7, 8), (6, 7).
OnnxMaker Maker(const std::vector<int64_t>& shape, const Counting& c) {
  OnnxMaker maker(9);
  maker.Input("x", shape, DataType::kInt64)
      .Node("TfIdfVectorizer", {"x"}, {"y"})
      .String("mode", c.mode)
      .Int("min_gram_length", c.shortest)
      .Int("max_gram_length", c.longest)
      .Int("max_skip_count", c.skips)
      .Ints("ngram_counts", {0, 4})
      .Ints("ngram_indexes", c.columns)
      .Ints("pool_int64s", {2, 3, 5, 4, 5, 6, 7, 8, 6, 7})
      .Output("y");
  if (c.mode == "TF") return maker;
  onnx::AttributeProto& weights = *maker.proto().mutable_graph()->mutable_node(0)->add_attribute();
  weights.set_name("weights");
  weights.set_type(onnx::AttributeProto::FLOATS);
  for (const float weight : {0.5f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f}) weights.add_floats(weight);
  return maker;
}

std::vector<float> Counts(const TensorData& x, const Counting& c) {
  const auto module = ImportOnnxBytes(Maker(x.shape, c).Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto outputs = RunModel(*module, {x});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? Floats((*outputs)[0]) : std::vector<float>{};
}

TensorData Rows() { return IntTensor({2, 6}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}); }

TEST(OnnxTfIdfTest, CountsPairsWithAndWithoutSkips) {
  EXPECT_THAT(Counts(Rows(), {.shortest = 2}),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1));
  EXPECT_THAT(Counts(Rows(), {.skips = 5}), ElementsAre(0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1));
}

TEST(OnnxTfIdfTest, WeighsCountsOrPresence) {
  EXPECT_THAT(Counts(Rows(), {.mode = "TFIDF", .skips = 5}),
              ElementsAre(0, 6, 0, 0, 0, 0, 0, 0, 0, 3, 0, 5, 6, 7));
  EXPECT_THAT(Counts(Rows(), {.mode = "IDF", .shortest = 2, .skips = 5}),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6, 7));
}

TEST(OnnxTfIdfTest, OneRowInColumnsOfAnotherOrder) {
  EXPECT_THAT(Counts(IntTensor({4}, {5, 6, 7, 3}), {.columns = {6, 5, 4, 3, 2, 8, 0}}),
              ElementsAre(1, 0, 1, 0, 1, 1, 0, 0, 0));
}

TEST(OnnxTfIdfTest, APoolThatDoesNotFitIsNamed) {
  for (const std::vector<int64_t>& columns :
       {std::vector<int64_t>{0, 1, 2}, {0, 1, 2, 3, 4, 5, 5}, {0, 1, 2, 3, 4, 5, -1}}) {
    const auto module = ImportOnnxBytes(Maker({6}, {.columns = columns}).Bytes());
    EXPECT_THAT(std::string(module.status().message()), HasSubstr("n-grams by size"));
  }
}

}  // namespace
}  // namespace hone::frontend
