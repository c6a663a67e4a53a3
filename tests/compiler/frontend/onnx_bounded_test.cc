// Results whose shape depends on data of a run: the largest shape, filled up with -1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>

#include "compiler/frontend/onnx/import.h"
#include "support/random.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(BoundedResults, NonZeroHasAColumnForEveryElement) {
  OnnxMaker maker(18);
  maker.Input("x", {2, 3}).Node("NonZero", {"x"}, {"places"}).Output("places");
  const TensorData y = FirstOutput(maker, {FloatTensor({2, 3}, {0, 5, 0, -1, 0, 2})});
  EXPECT_EQ(y.dtype, DataType::kInt64);
  EXPECT_THAT(y.shape, ElementsAre(2, 6));
  EXPECT_THAT(Ints(y), ElementsAre(0, 1, 1, -1, -1, -1, 1, 0, 2, -1, -1, -1));
}

TEST(BoundedResults, NonZeroOfNoElementsHasNoColumns) {
  OnnxMaker maker(18);
  maker.Input("x", {2, 0}).Node("NonZero", {"x"}, {"places"}).Output("places");
  EXPECT_EQ(FirstOutput(maker, {FloatTensor({2, 0}, {})}), IntTensor({2, 0}, {}));
}

// Those of a run that is given its values at import are exact.
TEST(BoundedResults, ValuesAtHandGiveTheExactShape) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("NonZero", {"x"}, {"places"}).Output("places");
  ImportOptions options;
  options.values["x"] = FloatTensor({3}, {0, 5, 7});
  EXPECT_EQ(FirstOutput(maker, {}, options), IntTensor({1, 2}, {1, 2}));
}

TEST(BoundedResults, ArePassedOnByIdentityAndReadByNothingElse) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("Neg", {"x"}, {"n"}).Node("NonZero", {"n"}, {"places"});
  maker.Node("Identity", {"places"}, {"same"}).Output("same");
  EXPECT_THAT(Ints(FirstOutput(maker, {FloatTensor({3}, {1, 0, 1})})), ElementsAre(0, 2, -1));
  maker.Node("Transpose", {"same"}, {"t"}).Node("GatherND", {"n", "t"}, {"found"}).Output("found");
  const std::string error = Refusal(maker);
  EXPECT_THAT(
      error,
      HasSubstr("node \"Transpose_node\" (Transpose): the number of rows of \"same\" depends on"));
  EXPECT_THAT(error, HasSubstr("cut the model before it: --cut same --cut n"));
}

// Whatever its name, what a function does with one is looked at.
TEST(BoundedResults, GoThroughFunctions) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("NonZero", {"x"}, {"places"}).Node("Identity", {"places"}, {"y"});
  maker.Output("y");
  onnx::FunctionProto& function = *maker.proto().add_functions();
  function.set_name("Identity");
  function.add_input("a");
  function.add_output("b");
  onnx::NodeProto& node = *function.add_node();
  node.set_op_type("Neg");
  node.add_input("a");
  node.add_output("b");
  function.add_opset_import()->set_version(18);
  EXPECT_THAT(Refusal(maker), HasSubstr("the number of rows of \"a\" depends on"));
}

// The call is all that the main graph has of it.
TEST(BoundedResults, OfAFunctionAlone) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("Places", {"x"}, {"y"}).Output("y");
  onnx::FunctionProto& function = *maker.proto().add_functions();
  function.set_name("Places");
  function.add_input("a");
  function.add_output("b");
  onnx::NodeProto& node = *function.add_node();
  node.set_op_type("NonZero");
  node.add_input("a");
  node.add_output("b");
  function.add_opset_import()->set_version(18);
  EXPECT_THAT(Ints(FirstOutput(maker, {FloatTensor({3}, {0, 7, 0})})), ElementsAre(1, -1, -1));
}

OnnxMaker Suppression(int64_t batches, int64_t classes, int64_t boxes, int64_t most,
                      bool center_point) {
  OnnxMaker maker(18);
  maker.Input("boxes", {batches, boxes, 4})
      .Input("scores", {batches, classes, boxes})
      .Initializer("most", IntTensor({1}, {most}))
      .Initializer("overlap", FloatTensor({1}, {0.4F}))
      .Initializer("least", FloatTensor({1}, {0.2F}))
      .Node("NonMaxSuppression", {"boxes", "scores", "most", "overlap", "least"}, {"kept"})
      .Int("center_point_box", center_point ? 1 : 0)
      .Output("kept");
  return maker;
}

TEST(BoundedResults, NonMaxSuppressionKeepsWhatItKeepsAtImport) {
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    const auto batches = static_cast<int64_t>(1 + random.Below(2));
    const auto classes = static_cast<int64_t>(1 + random.Below(3));
    const auto count = static_cast<int64_t>(1 + random.Below(30));
    const auto most = static_cast<int64_t>(1 + random.Below(8));
    // Boxes in steps of 0.1, whose overlaps meet the threshold but for rounding; scores that are
    // equal.
    std::vector<float> boxes(batches * count * 4);
    for (float& x : boxes) x = static_cast<float>(random.Below(40)) * 0.1F;
    std::vector<float> scores(batches * classes * count);
    for (float& x : scores) x = static_cast<float>(random.Below(9)) / 8;
    const std::vector<TensorData> inputs = {FloatTensor({batches, count, 4}, boxes),
                                            FloatTensor({batches, classes, count}, scores)};
    const OnnxMaker maker = Suppression(batches, classes, count, most, round % 2 == 1);
    ImportOptions options;
    options.constants = {{"boxes", inputs[0]}, {"scores", inputs[1]}};
    std::vector<int64_t> expected = Ints(FirstOutput(maker, {}, options));
    const TensorData kept = FirstOutput(maker, inputs);
    ASSERT_THAT(kept.shape, ElementsAre(batches * classes * std::min(most, count), 3));
    expected.resize(kept.shape[0] * 3, -1);
    ASSERT_EQ(Ints(kept), expected) << "round " << round;
  }
}

// Their union over intersection is 0.50000006 in float32 with a rounding at each step, and 0.5 in
// numbers without end: what other runtimes drop is dropped.
TEST(BoundedResults, NonMaxSuppressionRoundsAtEachStep) {
  OnnxMaker maker(18);
  maker.Input("boxes", {1, 2, 4})
      .Input("scores", {1, 1, 2})
      .Initializer("most", IntTensor({1}, {2}))
      .Initializer("overlap", FloatTensor({1}, {0.5F}))
      .Node("NonMaxSuppression", {"boxes", "scores", "most", "overlap"}, {"kept"})
      .Output("kept");
  const TensorData boxes =
      FloatTensor({1, 2, 4}, {3 * 0.1F, 6 * 0.1F, 0, 2 * 0.1F, 0, 6 * 0.1F, 2 * 0.1F, 0});
  const TensorData scores = FloatTensor({1, 1, 2}, {0.9F, 0.8F});
  EXPECT_THAT(Ints(FirstOutput(maker, {boxes, scores})), ElementsAre(0, 0, 0, -1, -1, -1));
  ImportOptions options;
  options.constants = {{"boxes", boxes}, {"scores", scores}};
  EXPECT_THAT(Ints(FirstOutput(maker, {}, options)), ElementsAre(0, 0, 0));
}

// All of them are onnxruntime's.
TEST(BoundedResults, BoxesOfNegativeSizeOverlapNothing) {
  const TensorData scores = FloatTensor({1, 1, 3}, {0.9F, 0.8F, 0.7F});
  for (const float width : {2.0F, -2.0F}) {
    for (const float height : {2.0F, -2.0F}) {
      const TensorData boxes =
          FloatTensor({1, 3, 4}, {0, 0, width, height, 0.1F, 0, 2, 2, 0.1F, 0, width, height});
      const bool covers = width > 0 && height > 0;
      const std::vector<int64_t> expected =
          covers ? std::vector<int64_t>{0, 0, 0} : std::vector<int64_t>{0, 0, 0, 0, 0, 1, 0, 0, 2};
      const OnnxMaker maker = Suppression(1, 1, 3, 3, /*center_point=*/true);
      ImportOptions options;
      options.constants = {{"boxes", boxes}, {"scores", scores}};
      EXPECT_EQ(Ints(FirstOutput(maker, {}, options)), expected) << width << ' ' << height;
      std::vector<int64_t> rows = expected;
      rows.resize(9, -1);
      EXPECT_EQ(Ints(FirstOutput(maker, {boxes, scores})), rows) << width << ' ' << height;
    }
  }
}

TEST(BoundedResults, DetectorsEndInThem) {
  OnnxMaker maker = Suppression(1, 2, 10, 3, false);
  maker.Initializer("column", IntTensor({1}, {2})).Node("Gather", {"kept", "column"}, {"box"});
  maker.Int("axis", 1).Node("Squeeze", {"box"}, {"chosen"}).Output("chosen");
  EXPECT_THAT(Refusal(maker), HasSubstr("to leave that out, cut the model before it: --cut kept"));
  OnnxMaker none = Suppression(1, 2, 10, 0, false);
  EXPECT_THAT(FirstOutput(none, {FloatTensor({1, 10, 4}, std::vector<float>(40)),
                                 FloatTensor({1, 2, 10}, std::vector<float>(20))})
                  .shape,
              ElementsAre(0, 3));
}

}  // namespace
}  // namespace hone::frontend
