#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontend/file.h"
#include "compiler/frontend/pb_model.h"
#include "compiler/frontend/tensorflow/import.h"
#include "compiler/ir/printer.h"
#include "tests/compiler/frontend/graph_def_maker.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"
#include "tests/paths.h"

namespace hone::frontend {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

absl::Status ErrorOf(const GraphDefMaker& maker, const ImportOptions& options = {}) {
  return ImportTensorflowBytes(maker.Bytes(), options).status();
}

std::vector<float> RunOn(const GraphDefMaker& maker, const TensorData& x) {
  const auto module = ImportTensorflowBytes(maker.Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto outputs = RunModel(*module, {x});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? Floats((*outputs)[0]) : std::vector<float>{};
}

// Calls of an operator in main.
std::vector<ir::Expr> CallsOf(const ir::Module& module, const std::string& op) {
  std::vector<ir::Expr> calls;
  for (const ir::Expr& e : ir::PostOrder(ir::Body(*module.functions.at("main")))) {
    if (ir::IsCall(e, op)) calls.push_back(e);
  }
  return calls;
}

TensorData Read(const std::string& name) {
  auto tensor = ReadTensorFile(std::string(HONE_TEST_DATA) + "/tensorflow/" + name);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() ? *tensor : TensorData{};
}

const std::string kSmall = std::string(HONE_TEST_DATA) + "/tensorflow/small.pb";
const TensorData kNineTensor = FloatTensor({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});

TEST(TensorflowImportTest, AFrozenGraphGivesTensorflowsNumbers) {
  const auto module = ImportPb(kSmall);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto outputs = RunModel(*module, {Read("small_input.npy")});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(Difference((*outputs)[0], Read("small_output.npy")), "");
}

// Operators one by one on an image that has its channels first.
TEST(TensorflowImportTest, OperatorsSeeTheAxesOfTheFile) {
  const auto module = ImportPb(std::string(HONE_TEST_DATA) + "/tensorflow/operators.pb");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto outputs = RunModel(*module, {Read("operators_input.npy")});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(Difference((*outputs)[0], Read("operators_output.npy")), "");
}

// The image comes in with its channels last; from there on nothing is transposed.
TEST(TensorflowImportTest, OnlyTheInputIsTransposed) {
  const auto module = ImportTensorflow(kSmall);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto transposes = CallsOf(*module, "transpose");
  ASSERT_EQ(transposes.size(), 1u);
  EXPECT_EQ(CallsOf(*module, "nn.conv2d").size(), 7u);
  for (const ir::Expr& e : ir::PostOrder(transposes[0])) {
    EXPECT_FALSE(ir::IsCall(e, "nn.conv2d"));
  }
}

// TensorFlow pads after where the pads are uneven.
TEST(TensorflowImportTest, SamePadding) {
  GraphDefMaker maker;
  maker.Placeholder("x", {1, 3, 3, 1})
      .Floats("w", {2, 2, 1, 1}, {1, 2, 3, 4})
      .Node("Conv2D", "y", {"x", "w"})
      .Window(1, "SAME");
  EXPECT_THAT(RunOn(maker, kNineTensor), ElementsAre(37, 47, 21, 67, 77, 33, 23, 26, 9));
}

// The divisor of an average counts the elements there are.
TEST(TensorflowImportTest, AveragesLeaveOutPadding) {
  GraphDefMaker maker;
  maker.Placeholder("x", {1, 3, 3, 1}).Node("AvgPool", "y", {"x"}).Window(2, "SAME", 2);
  EXPECT_THAT(RunOn(maker, kNineTensor), ElementsAre(3, 4.5, 7.5, 9));
}

TEST(TensorflowImportTest, PadsBeforeConvolutions) {
  GraphDefMaker maker;
  maker.Placeholder("x", {1, 3, 3, 1})
      .Ints("pads", {0, 0, 1, 0, 1, 0, 0, 0})
      .Node("Pad", "padded", {"x", "shape"})
      .Floats("w", {2, 2, 1, 1}, {1, 2, 3, 4})
      .Node("Conv2D", "y", {"padded", "w"})
      .Window(1, "VALID");
  maker.graph().mutable_node(1)->set_name("flat");
  maker.Ints("dims", {4, 2}).Node("Reshape", "shape", {"flat", "dims"});
  EXPECT_THAT(RunOn(maker, kNineTensor), ElementsAre(4, 11, 18, 18, 37, 47, 36, 67, 77));
}

TEST(TensorflowImportTest, FunctionsNextToZeroKeepTheirDigits) {
  const TensorData x = FloatTensor({2}, {-1e-7f, 2e-9f});
  for (const char* op : {"Expm1", "Log1p"}) {
    GraphDefMaker maker;
    maker.Placeholder("x", {2}).Node(op, "y", {"x"});
    EXPECT_THAT(RunOn(maker, x), ElementsAre(testing::FloatNear(-1e-7f, 2e-14f), 2e-9f)) << op;
  }
}

TEST(TensorflowImportTest, ConstantIndicesOutOfRangeAreRefused) {
  GraphDefMaker maker;
  maker.Placeholder("x", {3}).Ints("at", {0, 3}).Node("Gather", "y", {"x", "at"});
  EXPECT_THAT(Message(ErrorOf(maker)), HasSubstr("an index of -3 to 2 was expected"));
}

// Two outputs a channel: channel c gives 2c and 2c + 1.
TEST(TensorflowImportTest, DepthwiseFilters) {
  GraphDefMaker maker;
  maker.Placeholder("x", {1, 1, 2, 2})
      .Floats("w", {1, 1, 2, 2}, {1, 10, 100, 1000})
      .Node("DepthwiseConv2dNative", "y", {"x", "w"})
      .Window(1, "VALID");
  EXPECT_THAT(RunOn(maker, FloatTensor({1, 1, 2, 2}, {1, 2, 3, 4})),
              ElementsAre(1, 10, 200, 2000, 3, 30, 400, 4000));
}

// The workloads of an NHWC convolution are those of its NCHW twin in ONNX.
TEST(TensorflowImportTest, ConvolutionsAreThoseOfTheirTwins) {
  for (const int64_t channels : {384, 448, 192}) {
    GraphDefMaker maker;
    maker.Placeholder("x", {1, 8, 8, 2048})
        .Floats("w", {1, 1, 2048, channels}, {0.5})
        .Node("Conv2D", "y", {"x", "w"})
        .Window(1, "SAME");
    const auto module = ImportTensorflowBytes(maker.Bytes());
    ASSERT_TRUE(module.ok()) << module.status();
    OnnxMaker twin;
    twin.Input("x", {1, 2048, 8, 8})
        .Input("w", {channels, 2048, 1, 1})
        .Node("Conv", {"x", "w"}, {"y"})
        .Output("y");
    const auto twin_module = ImportOnnxBytes(twin.Bytes());
    ASSERT_TRUE(twin_module.ok()) << twin_module.status();
    const ir::Expr conv = CallsOf(*module, "nn.conv2d")[0];
    const ir::Expr twin_conv = CallsOf(*twin_module, "nn.conv2d")[0];
    EXPECT_EQ(conv->attrs, twin_conv->attrs);
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(*conv->args[i]->type, *twin_conv->args[i]->type);
  }
}

TEST(TensorflowImportTest, OperatorsThatAreMissingAreListedAtOnce) {
  GraphDefMaker maker;
  maker.Placeholder("x", {2})
      .Node("Foo", "a/one", {"x"})
      .Node("Foo", "a/two", {"a/one"})
      .Node("Bar", "b", {"a/two"});
  const absl::Status status = ErrorOf(maker);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(Message(status), HasSubstr("Bar (nodes \"b\"); Foo (nodes \"a/one\", \"a/two\")"));
}

TEST(TensorflowImportTest, FunctionsAndVariablesAreToBeFrozen) {
  GraphDefMaker maker;
  maker.Placeholder("x", {2})
      .Node("VarHandleOp", "v", {})
      .Node("StatefulPartitionedCall", "call", {"x", "v"})
      .Node("my_function", "mine", {"call"});
  maker.graph().mutable_library()->add_function()->mutable_signature()->set_name("my_function");
  EXPECT_THAT(Message(ErrorOf(maker)),
              AllOf(HasSubstr("StatefulPartitionedCall (nodes \"call\")"),
                    HasSubstr("my_function (nodes \"mine\")"), HasSubstr("VarHandleOp"),
                    HasSubstr("convert_variables_to_constants_v2")));
}

ImportOptions Shaped(const std::string& name, const std::vector<int64_t>& shape) {
  ImportOptions options;
  options.shapes[name] = shape;
  return options;
}

TEST(TensorflowImportTest, UnknownExtentsNameTheFlag) {
  GraphDefMaker maker;
  maker.Placeholder("x", {-1, 3}).Node("Relu", "y", {"x"});
  EXPECT_THAT(Message(ErrorOf(maker)), HasSubstr("--shape x=?,3"));
  EXPECT_THAT(Message(ErrorOf(maker, Shaped("x", {2, 4}))), HasSubstr("has the shape ?,3"));
  EXPECT_THAT(Message(ErrorOf(maker, Shaped("z", {2, 3}))), HasSubstr("no input \"z\"; it has x"));
  EXPECT_TRUE(ErrorOf(maker, Shaped("x", {2, 3})).ok());
}

TEST(TensorflowImportTest, TrainingIsRefused) {
  GraphDefMaker maker;
  maker.Placeholder("x", {1, 1, 1, 1})
      .Floats("s", {1}, {1})
      .Node("FusedBatchNormV3", "y", {"x", "s", "s", "s", "s"});
  EXPECT_THAT(Message(ErrorOf(maker)),
              AllOf(HasSubstr("node \"y\" (FusedBatchNormV3)"), HasSubstr("is_training=false")));
  maker.Flag("is_training", false).Float("epsilon", 0).Attr("surprise", 1);
  EXPECT_THAT(Message(ErrorOf(maker)), HasSubstr("attribute surprise"));
}

TEST(TensorflowImportTest, DamagedGraphsSayWhatIsWrong) {
  EXPECT_THAT(Message(ImportTensorflowBytes("").status()), HasSubstr("a file without nodes"));
  EXPECT_THAT(Message(ImportTensorflowBytes("\x0a\x7f").status()), HasSubstr("cut"));
  GraphDefMaker missing;
  missing.Placeholder("x", {1}).Node("Relu", "y", {"z"});
  EXPECT_THAT(Message(ErrorOf(missing)), HasSubstr("reads \"z\", which is not in the graph"));
  GraphDefMaker twice;
  twice.Placeholder("x", {1}).Node("Relu", "x", {"x"});
  EXPECT_THAT(Message(ErrorOf(twice)), HasSubstr("two nodes named \"x\""));
  GraphDefMaker circle;
  circle.Node("Relu", "a", {"b"}).Node("Relu", "b", {"a"}).Node("Relu", "c", {"b"});
  EXPECT_THAT(Message(ErrorOf(circle)), HasSubstr("computed from itself"));
}

// A few bytes can claim to be a large tensor.
TEST(TensorflowImportTest, SmallFilesGetNoLargeConstants) {
  GraphDefMaker maker;
  maker.Floats("a", {1 << 14, 1 << 15}, {1}).Node("Relu", "y", {"a"});
  EXPECT_THAT(Message(ErrorOf(maker)), HasSubstr("more than a model may ask for"));
  GraphDefMaker huge;
  huge.Floats("a", {int64_t{1} << 40, int64_t{1} << 40}, {1}).Node("Relu", "y", {"a"});
  EXPECT_THAT(Message(ErrorOf(huge)), HasSubstr("is too large"));
}

TEST(TensorflowImportTest, DeepGraphsDoNotOverflowTheStack) {
  GraphDefMaker maker;
  maker.Placeholder("n0", {1});
  constexpr int kDepth = 50000;
  for (int i = kDepth; i > 0; --i) {  // users before their operands
    maker.Node("Relu", "n" + std::to_string(i), {"n" + std::to_string(i - 1)});
  }
  EXPECT_TRUE(ErrorOf(maker).ok());
}

TEST(TensorflowImportTest, ShapesAreComputedAtImport) {
  GraphDefMaker maker;
  maker.Placeholder("x", {2, 3, 4})
      .Node("Shape", "shape", {"x"})
      .Ints("zero", {0})
      .Ints("one", {1})
      .Node("StridedSlice", "batch", {"shape", "zero", "one", "one"})
      .Attr("shrink_axis_mask", 1)
      .Ints("rest", {-1})
      .Ints("none", {})
      .Node("Reshape", "open", {"rest", "none"})
      .Node("Pack", "dims", {"batch", "open"})
      .Attr("N", 2)
      .Node("Reshape", "y", {"x", "dims"});
  const auto module = ImportTensorflowBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Body(*module->functions.at("main"))->type->ToString(), "Tensor[(2, 12), float32]");
}

TEST(TensorflowImportTest, PbFilesAreTakenByTheirContent) {
  OnnxMaker onnx;
  onnx.Input("x", {1}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_TRUE(LooksLikeOnnx(onnx.Bytes()));
  const auto graph = ReadWholeFile(kSmall);
  ASSERT_TRUE(graph.ok());
  EXPECT_FALSE(LooksLikeOnnx(*graph));
  EXPECT_FALSE(LooksLikeOnnx(graph->substr(0, 100)));
}

TEST(TensorflowImportTest, APartOfAGraphIsHadByTheNamesOfItsNodes) {
  GraphDefMaker maker;
  maker.Placeholder("x", {4}).Node("Neg", "head", {"x"}).Node("Relu", "scores", {"head"});
  maker.Node("Where", "chosen", {"scores"}).Node("GatherV2", "found", {"head", "chosen"});
  maker.Node("Abs", "rest", {"scores"});
  EXPECT_THAT(Message(ErrorOf(maker)),
              AllOf(HasSubstr("operators that Hone does not have: Where"),
                    HasSubstr("cut the model before it: --cut rest --cut scores --cut head")));
  ImportOptions options;
  options.outputs = {"scores", "head:0"};
  const auto module = ImportTensorflowBytes(maker.Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto outputs = RunModel(*module, {FloatTensor({4}, {1, -2, 3, -4})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(Floats((*outputs)[0]), ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(Floats((*outputs)[1]), ElementsAre(-1, 2, -3, 4));
  for (const char* const wrong : {"heads", "head:x", "head:1", ":0", ""}) {
    options.outputs = {wrong};
    EXPECT_TRUE(absl::IsInvalidArgument(ErrorOf(maker, options))) << wrong;
  }
  options.outputs = {"head", "head:0"};
  EXPECT_THAT(Message(ErrorOf(maker, options)), HasSubstr("found twice"));
}

TEST(TensorflowImportTest, OptionsForInputsThatACutLeavesOutAreTaken) {
  GraphDefMaker maker;
  maker.Placeholder("x", {4}).Placeholder("late", {-1}).Node("Neg", "head", {"x"});
  maker.Node("Add", "sum", {"head", "late"});
  ImportOptions options;
  options.outputs = {"head"};
  options.shapes = {{"late", {4}}};
  EXPECT_TRUE(ErrorOf(maker, options).ok()) << ErrorOf(maker, options);
  options.shapes = {{"lake", {4}}};
  EXPECT_THAT(Message(ErrorOf(maker, options)), HasSubstr("no input \"lake\"; it has x"));
  options.shapes = {{"head", {4}}};
  EXPECT_THAT(Message(ErrorOf(maker, options)), HasSubstr("no input \"head\"")) << "no input";
}

TEST(TensorflowImportTest, IntegersWithoutASignAreRead) {
  constexpr int kUInt16 = 17;
  constexpr int kUInt32 = 22;
  constexpr int kUInt64 = 23;
  for (const int type : {kUInt16, kUInt32, kUInt64}) {
    GraphDefMaker maker;
    maker.Placeholder("x", {2}).Floats("c", {2}, {0, 0});
    auto& tensor = *(*maker.graph().mutable_node(1)->mutable_attr())["value"].mutable_tensor();
    tensor.clear_float_val();
    tensor.set_dtype(type);
    if (type == kUInt16) tensor.add_int_val(65535);
    if (type == kUInt32) tensor.add_uint32_val(uint32_t{1} << 31);
    if (type == kUInt64) tensor.add_uint64_val(uint64_t{1} << 63);
    maker.Node("Cast", "wide", {"c"});
    (*maker.graph().mutable_node(2)->mutable_attr())["DstT"].set_type(1);
    maker.Node("Add", "y", {"x", "wide"});
    const float value = type == kUInt16 ? 65535.F : type == kUInt32 ? 0x1p31F : 0x1p63F;
    EXPECT_THAT(RunOn(maker, FloatTensor({2}, {0, 0})), ElementsAre(value, value)) << type;
  }
}

}  // namespace
}  // namespace hone::frontend
