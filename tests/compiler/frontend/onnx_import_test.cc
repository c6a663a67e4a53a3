#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "compiler/frontend/onnx/import.h"
#include "support/random.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

std::vector<TensorData> OutputsOf(OnnxMaker& maker, const std::vector<TensorData>& inputs) {
  const auto module = ImportOnnxBytes(maker.Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto outputs = RunModel(*module, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *outputs : std::vector<TensorData>{};
}

OnnxMaker ConvModel() {
  OnnxMaker maker;
  maker.Input("x", {1, 1, 3, 3})
      .Initializer("w", FloatTensor({1, 1, 2, 2}, {1, 2, 3, 4}))
      .Initializer("b", FloatTensor({1}, {10}))
      .Node("Conv", {"x", "w", "b"}, {"y"})
      .Output("y");
  return maker;
}

const std::vector<float> kNineValues = {1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(OnnxImportTest, InputsOutputsAndWeightsKeepTheirMeaning) {
  OnnxMaker maker = ConvModel();
  const auto module = ImportOnnxBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  const ir::Expr& main = module->functions.at("main");
  const auto params = ir::Params(*main);
  ASSERT_EQ(params.size(), 1u);
  EXPECT_EQ(params[0]->name, "x");
  EXPECT_EQ(ir::GetAttr<std::vector<std::string>>(main->attrs, "output_names", {}),
            std::vector<std::string>{"y"});
  EXPECT_EQ(ir::Body(*main)->type->ToString(), "Tensor[(1, 1, 2, 2), float32]");
  EXPECT_THAT(Floats(OutputsOf(maker, {FloatTensor({1, 1, 3, 3}, kNineValues)})[0]),
              ElementsAre(47, 57, 77, 87));
}

// SAME_UPPER puts the odd pad after, SAME_LOWER before.
TEST(OnnxImportTest, AutoPad) {
  const TensorData x = FloatTensor({1, 1, 3, 3}, kNineValues);
  OnnxMaker upper = ConvModel();
  upper.String("auto_pad", "SAME_UPPER");
  EXPECT_THAT(Floats(OutputsOf(upper, {x})[0]), ElementsAre(47, 57, 31, 77, 87, 43, 33, 36, 19));
  OnnxMaker lower = ConvModel();
  lower.String("auto_pad", "SAME_LOWER");
  EXPECT_THAT(Floats(OutputsOf(lower, {x})[0]), ElementsAre(14, 21, 28, 28, 47, 57, 46, 77, 87));
  OnnxMaker wrong = ConvModel();
  wrong.String("auto_pad", "SOMEHOW");
  EXPECT_THAT(Message(ImportStatus(wrong)),
              AllOf(HasSubstr("node \"Conv_node\" (Conv)"), HasSubstr("found SOMEHOW")));
}

// Old models list every initializer among the inputs, too.
TEST(OnnxImportTest, InitializersThatAreAlsoInputsAreWeights) {
  OnnxMaker maker = ConvModel();
  maker.Input("w", {1, 1, 2, 2}).Input("b", {1});
  const auto module = ImportOnnxBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Params(*module->functions.at("main")).size(), 1u);
}

TEST(OnnxImportTest, InitializersInTypedFields) {
  OnnxMaker maker = ConvModel();
  onnx::TensorProto* w = maker.proto().mutable_graph()->mutable_initializer(0);
  w->clear_raw_data();
  for (const float v : {1, 2, 3, 4}) w->add_float_data(v);
  EXPECT_THAT(Floats(OutputsOf(maker, {FloatTensor({1, 1, 3, 3}, kNineValues)})[0]),
              ElementsAre(47, 57, 77, 87));
  w->add_float_data(5);
  EXPECT_THAT(Message(ImportStatus(maker)),
              HasSubstr("tensor \"w\": 4 elements were expected, found 5"));
}

// Before opset 13 the axes from `axis` on hold one distribution together.
TEST(OnnxImportTest, SoftmaxFlattensBeforeOpset13) {
  for (const int opset : {11, 13}) {
    OnnxMaker maker(opset);
    maker.Input("x", {1, 2, 2}).Node("Softmax", {"x"}, {"y"}).Int("axis", 1).Output("y");
    const float part = opset == 11 ? 0.25f : 0.5f;
    EXPECT_THAT(Floats(OutputsOf(maker, {FloatTensor({1, 2, 2}, {0, 0, 0, 0})})[0]),
                ElementsAre(part, part, part, part));
  }
}

TEST(OnnxImportTest, GemmScalesTransposesAndAdds) {
  OnnxMaker maker;
  maker.Input("a", {2, 1})
      .Initializer("b", FloatTensor({2, 2}, {1, 2, 3, 4}))
      .Initializer("c", FloatTensor({2}, {100, 200}))
      .Node("Gemm", {"a", "b", "c"}, {"y"})
      .Int("transA", 1)
      .Float("alpha", 2)
      .Float("beta", 0.5)
      .Output("y");
  EXPECT_THAT(Floats(OutputsOf(maker, {FloatTensor({2, 1}, {1, 10})})[0]), ElementsAre(112, 184));
}

TEST(OnnxImportTest, BatchNormalizationDropoutAndTheirUnusedOutputs) {
  OnnxMaker maker(9);
  maker.Input("x", {1, 2, 1})
      .Initializer("scale", FloatTensor({2}, {2, 3}))
      .Initializer("bias", FloatTensor({2}, {1, -1}))
      .Initializer("mean", FloatTensor({2}, {1, 2}))
      .Initializer("var", FloatTensor({2}, {4, 9}))
      .Node("BatchNormalization", {"x", "scale", "bias", "mean", "var"},
            {"n", "mean_out", "var_out"})
      .Float("epsilon", 0)
      .Node("Dropout", {"n"}, {"y", "mask"})
      .Float("ratio", 0.3)
      .Output("y");
  EXPECT_THAT(Floats(OutputsOf(maker, {FloatTensor({1, 2, 1}, {3, 5})})[0]),
              Pointwise(FloatNear(1e-5), {3.0f, 2.0f}));
}

// The way exporters write "flatten all but the batch".
TEST(OnnxImportTest, ShapeComputationsAreEvaluated) {
  OnnxMaker maker;
  maker.Input("x", {2, 3, 4})
      .Node("Shape", {"x"}, {"s"})
      .Initializer("zero", IntTensor({}, {0}))
      .Node("Gather", {"s", "zero"}, {"n"})
      .Initializer("axes", IntTensor({1}, {0}))
      .Node("Unsqueeze", {"n", "axes"}, {"n1"})
      .Initializer("rest", IntTensor({1}, {-1}))
      .Node("Concat", {"n1", "rest"}, {"shape"})
      .Int("axis", 0)
      .Node("Reshape", {"x", "shape"}, {"y"})
      .Output("y");
  const auto module = ImportOnnxBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Body(*module->functions.at("main"))->type->ToString(), "Tensor[(2, 12), float32]");
}

// A shape of no entries is that of a scalar.
TEST(OnnxImportTest, EmptyListsOfIntegers) {
  OnnxMaker maker;
  maker.Input("x", {1, 1})
      .Initializer("shape", IntTensor({0}, {}))
      .Node("Reshape", {"x", "shape"}, {"y"})
      .Output("y");
  const std::vector<TensorData> y = OutputsOf(maker, {FloatTensor({1, 1}, {7})});
  EXPECT_EQ(y[0], FloatTensor({}, {7}));
}

TEST(OnnxImportTest, ClipTakesBoundsAsAttributesAndAsOperands) {
  const TensorData x = FloatTensor({3}, {-5, 1, 9});
  OnnxMaker old(6);
  old.Input("x", {3}).Node("Clip", {"x"}, {"y"}).Float("min", 0).Float("max", 6).Output("y");
  EXPECT_THAT(Floats(OutputsOf(old, {x})[0]), ElementsAre(0, 1, 6));
  OnnxMaker now;
  now.Input("x", {3})
      .Initializer("max", FloatTensor({}, {6}))
      .Node("Clip", {"x", "", "max"}, {"y"})
      .Output("y");
  EXPECT_THAT(Floats(OutputsOf(now, {x})[0]), ElementsAre(-5, 1, 6));
}

// Bounds were rounded to doubles: to 2^53 and -2^62.
TEST(OnnxImportTest, ClipOfLongIntegersKeepsTheirBounds) {
  constexpr int64_t kHigh = (int64_t{1} << 53) + 1, kLow = -(int64_t{1} << 62) - 1;
  OnnxMaker maker;
  maker.Input("x", {3}, DataType::kInt64)
      .Initializer("min", IntTensor({}, {kLow}))
      .Initializer("max", IntTensor({}, {kHigh}))
      .Node("Clip", {"x", "min", "max"}, {"y"})
      .Output("y");
  const TensorData x = IntTensor({3}, {int64_t{1} << 62, 7, std::numeric_limits<int64_t>::min()});
  EXPECT_EQ(OutputsOf(maker, {x})[0], IntTensor({3}, {kHigh, 7, kLow}));
}

TEST(OnnxImportTest, EveryUnsupportedOperatorIsListedAtOnce) {
  OnnxMaker maker;
  maker.Input("x", {2})
      .Node("Mystery", {"x"}, {"a"})
      .Node("Relu", {"a"}, {"b"})
      .Node("NonZero", {"b"}, {"c"})
      .Node("Mystery", {"c"}, {"y"})
      .Output("y");
  maker.proto().mutable_graph()->mutable_node(3)->set_name("second");
  maker.proto().mutable_graph()->mutable_node(2)->set_domain("com.example");
  const absl::Status status = ImportStatus(maker);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Message(status),
            "the model uses operators that Hone does not have: Mystery (nodes \"Mystery_node\", "
            "\"second\"); com.example.NonZero (nodes \"NonZero_node\")");
}

TEST(OnnxImportTest, AnAttributeNobodyReadsIsAnError) {
  OnnxMaker maker;
  maker.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Int("slope", 1).Output("y");
  const absl::Status status = ImportStatus(maker);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Message(status), "node \"Relu_node\" (Relu): Hone does not know its attribute slope");
}

TEST(OnnxImportTest, SymbolicExtentsNeedTheFlag) {
  OnnxMaker maker;
  maker.Input("x", {-1, 3}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(ImportStatus(maker).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      Message(ImportStatus(maker)),
      "numbers were expected for the symbolic extents of the inputs (\"x\" is N,3): give them, "
      "as in --dim N=1");
  ImportOptions options;
  options.shapes["x"] = {4, 3};
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Body(*module->functions.at("main"))->type->ToString(), "Tensor[(4, 3), float32]");
  options.shapes["x"] = {4, 5};
  EXPECT_THAT(Message(ImportStatus(maker, options)),
              HasSubstr("--shape x=4,5: the model's input has the shape N,3"));
  options.shapes = {{"z", {1}}};
  EXPECT_EQ(Message(ImportStatus(maker, options)), "the model has no input \"z\"; it has x");
}

TEST(OnnxImportTest, InputsThatDecideAShapeCanBeBound) {
  OnnxMaker maker;
  maker.Input("x", {2, 3}).Input("shape", {1}, DataType::kInt64);
  maker.Node("Reshape", {"x", "shape"}, {"y"}).Output("y");
  const absl::Status status = ImportStatus(maker);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(Message(status),
              HasSubstr("shape must be known at compile time; it is computed from the input(s) "
                        "shape: give their values with --constant NAME=FILE"));
  ImportOptions options;
  options.constants["shape"] = IntTensor({1}, {6});
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Params(*module->functions.at("main")).size(), 1u);
}

// Values at hand become constants where they decide a shape, and only there.
TEST(OnnxImportTest, ValuesAtHandAreUsedWhereAShapeNeedsThem) {
  OnnxMaker maker;
  maker.Input("x", {-1, 3}).Input("rows", {1}, DataType::kInt64).Input("z", {1});
  maker.Initializer("rest", IntTensor({1}, {-1}))
      .Node("Concat", {"rows", "rest"}, {"shape"})
      .Int("axis", 0)
      .Node("Reshape", {"x", "shape"}, {"r"})
      .Node("Add", {"r", "z"}, {"y"})
      .Output("y");
  ImportOptions options;
  options.values["x"] = FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6});
  options.values["rows"] = IntTensor({1}, {3});
  options.values["z"] = FloatTensor({1}, {0});
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto params = ir::Params(*module->functions.at("main"));
  ASSERT_EQ(params.size(), 2u);
  EXPECT_EQ(params[0]->type->ToString(), "Tensor[(2, 3), float32]");
  EXPECT_EQ(params[1]->name, "z");
  EXPECT_EQ(ir::Body(*module->functions.at("main"))->type->ToString(), "Tensor[(3, 2), float32]");

  options.values["rows"] = IntTensor({2}, {3, 1});
  EXPECT_THAT(Message(ImportStatus(maker, options)),
              HasSubstr("input \"rows\": a value of shape (1) was expected, found (2)"));
  options.values = {{"rose", IntTensor({1}, {3})}};
  EXPECT_THAT(Message(ImportStatus(maker, options)), HasSubstr("no input \"rose\""));
}

TEST(OnnxImportTest, InconsistentModelsAreNamedNotCrashed) {
  OnnxMaker missing;
  missing.Input("x", {2}).Node("Add", {"x", "ghost"}, {"y"}).Output("y");
  EXPECT_THAT(Message(ImportStatus(missing)), HasSubstr("it reads \"ghost\", which no input"));

  OnnxMaker no_output;
  no_output.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Output("z");
  EXPECT_THAT(Message(ImportStatus(no_output)), HasSubstr("the output \"z\" is given by no node"));

  OnnxMaker shapes;
  shapes.Input("x", {2}).Input("z", {3}).Node("Add", {"x", "z"}, {"y"}).Output("y");
  EXPECT_THAT(Message(ImportStatus(shapes)),
              HasSubstr("expected a shape that broadcasts with (2), found (3)"));

  OnnxMaker negative = ConvModel();
  negative.proto().mutable_graph()->mutable_initializer(0)->set_dims(0, -1);
  EXPECT_THAT(Message(ImportStatus(negative)), HasSubstr("tensor \"w\": extents of at least 0"));

  OnnxMaker short_data = ConvModel();
  short_data.proto().mutable_graph()->mutable_initializer(0)->set_raw_data("abc");
  EXPECT_THAT(Message(ImportStatus(short_data)), HasSubstr("16 bytes were expected, found 3"));

  OnnxMaker twice;
  twice.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Node("Exp", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(Message(ImportStatus(twice)),
              HasSubstr("node \"Exp_node\" (Exp): it gives \"y\", which something before"));

  OnnxMaker window;
  window.Input("x", {1, 1, 4, 4})
      .Node("MaxPool", {"x"}, {"y"})
      .Ints("kernel_shape", {INT64_MAX, 2})
      .String("auto_pad", "SAME_UPPER")
      .Output("y");
  EXPECT_THAT(Message(ImportStatus(window)), HasSubstr("a window of positive extents"));

  OnnxMaker few(13);
  few.Input("x", {2}).Node("Conv", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(Message(ImportStatus(few)), HasSubstr("operand 1 (W) is missing"));

  OnnxMaker kind;
  kind.Input("x", {1, 1, 4, 4}).Node("MaxPool", {"x"}, {"y"}).Int("kernel_shape", 2).Output("y");
  EXPECT_THAT(Message(ImportStatus(kind)),
              HasSubstr("attribute kernel_shape was expected to be a list of integers"));
}

TEST(OnnxImportTest, OpsetsAndTypesOutsideTheSupportedAreRefused) {
  OnnxMaker future(99);
  future.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(ImportStatus(future).code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(Message(ImportStatus(future)), HasSubstr("opset 1 to 28 was expected, found 99"));
  OnnxMaker text;
  text.Input("x", {2}).Node("Identity", {"x"}, {"y"}).Output("y");
  text.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(onnx::TensorProto::STRING);
  EXPECT_THAT(Message(ImportStatus(text)),
              HasSubstr("input \"x\": Hone has no element type STRING"));
}

// A file of a few bytes must not ask for a machine's memory.
TEST(OnnxImportTest, HugeConstantsAreRefused) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{1 << 20, 1 << 20}, {int64_t{1} << 40, int64_t{1} << 40}, {-3}}) {
    OnnxMaker maker;
    maker.Initializer("s", IntTensor({static_cast<int64_t>(shape.size())}, shape))
        .Node("ConstantOfShape", {"s"}, {"y"})
        .Output("y");
    EXPECT_EQ(ImportStatus(maker).code(), absl::StatusCode::kInvalidArgument);
  }
  OnnxMaker pad;
  pad.Input("x", {2})
      .Initializer("p", IntTensor({2}, {int64_t{1} << 62, int64_t{1} << 62}))
      .Node("Pad", {"x", "p"}, {"y"})
      .Output("y");
  EXPECT_EQ(ImportStatus(pad).code(), absl::StatusCode::kInvalidArgument);
}

TEST(OnnxImportTest, TruncatedAndRandomBytesAreErrors) {
  const std::string good = ConvModel().Bytes();
  EXPECT_EQ(ImportOnnxBytes("").status().code(), absl::StatusCode::kInvalidArgument);
  for (size_t i = 0; i < good.size(); ++i) (void)ImportOnnxBytes(good.substr(0, i));
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string broken = good;
    for (int k = 0; k <= round % 4; ++k) {
      broken[random.Below(broken.size())] = static_cast<char>(random.Next());
    }
    (void)ImportOnnxBytes(broken);
  }
  std::string noise;
  for (int i = 0; i < 4096; ++i) noise += static_cast<char>(random.Next());
  EXPECT_EQ(ImportOnnxBytes(noise).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(OnnxImportTest, AMissingFileIsNamed) {
  const absl::Status status = ImportOnnx("/nowhere/model.onnx").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Message(status), "/nowhere/model.onnx does not exist");
}

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "external_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_ + "/inside");
    Write("weights.bin", Floats({0, 1, 2, 3, 4}));
    Write("inside/model.onnx", "");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string Floats(const std::vector<float>& values) {
    return FloatTensor({}, values).bytes;
  }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  absl::StatusOr<ir::Module> Import(const std::string& location, const std::string& offset) {
    OnnxMaker maker = ConvModel();
    onnx::TensorProto* w = maker.proto().mutable_graph()->mutable_initializer(0);
    w->clear_raw_data();
    w->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair{"location", location}, std::pair{"offset", offset}}) {
      auto* entry = w->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    Write("inside/model.onnx", maker.Bytes());
    return ImportOnnx(folder_ + "/inside/model.onnx");
  }

  std::string folder_;
};

TEST_F(ExternalDataTest, IsReadFromTheModelsFolder) {
  std::filesystem::copy_file(folder_ + "/weights.bin", folder_ + "/inside/weights.bin");
  const auto module = Import("weights.bin", "4");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto result = RunModel(*module, {FloatTensor({1, 1, 3, 3}, kNineValues)});
  EXPECT_THAT(frontend::Floats((*result)[0]), ElementsAre(47, 57, 77, 87));
}

TEST_F(ExternalDataTest, IsConfinedToIt) {
  std::filesystem::create_symlink(folder_ + "/weights.bin", folder_ + "/inside/link.bin");
  for (const std::string& location : {std::string("../weights.bin"), folder_ + "/weights.bin",
                                      std::string("link.bin"), std::string("")}) {
    const absl::Status status = Import(location, "0").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << location;
    EXPECT_THAT(Message(status), HasSubstr("in the model's folder")) << location;
  }
}

TEST_F(ExternalDataTest, IsNowhereForBytes) {
  std::filesystem::copy_file(folder_ + "/weights.bin", folder_ + "/inside/weights.bin");
  ASSERT_TRUE(Import("weights.bin", "4").ok());
  std::ifstream file(folder_ + "/inside/model.onnx", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ + "/inside");  // where it must not be looked for
  const absl::Status status = ImportOnnxBytes(bytes).status();
  std::filesystem::current_path(before);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("give a model by its path"));
}

TEST_F(ExternalDataTest, ThatIsMissingShortOrMisplacedIsNamed) {
  std::filesystem::copy_file(folder_ + "/weights.bin", folder_ + "/inside/weights.bin");
  EXPECT_EQ(Import("nothing.bin", "0").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(Import("weights.bin", "8").status()),
              HasSubstr("16 bytes from 8 on were expected"));
  EXPECT_THAT(Message(Import("weights.bin", "-4").status()),
              HasSubstr("offset was expected to be a number, found -4"));
}

// onnxruntime's way, too.
TEST(OnnxImportTest, NarrowElementsInWideFields) {
  const auto model = [](int type, int32_t value) {
    OnnxMaker maker;
    onnx::TensorProto& tensor = *maker.proto().mutable_graph()->add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(type);
    tensor.add_dims(1);
    tensor.add_int32_data(value);
    maker.Node("Cast", {"w"}, {"y"}).Int("to", onnx::TensorProto::FLOAT).Output("y");
    return maker;
  };
  const auto value_of = [&](int type, int32_t value) {
    OnnxMaker maker = model(type, value);
    return Floats(OutputsOf(maker, {})[0]);
  };
  EXPECT_THAT(value_of(onnx::TensorProto::BOOL, 256), ElementsAre(1));
  EXPECT_THAT(value_of(onnx::TensorProto::INT8, 200), ElementsAre(-56));
  EXPECT_THAT(value_of(onnx::TensorProto::FLOAT16, 0x3C00), ElementsAre(1));
  for (const int type : {onnx::TensorProto::FLOAT16, onnx::TensorProto::BFLOAT16}) {
    for (const int32_t value : {-1, 1 << 16}) {
      OnnxMaker maker = model(type, value);
      EXPECT_EQ(
          Message(ImportStatus(maker)),
          "tensor \"w\": 16 bits were expected of each float, found " + std::to_string(value));
    }
  }
}

}  // namespace
}  // namespace hone::frontend
