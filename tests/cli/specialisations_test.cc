// One module for several shapes: --shape again for an input makes one more specialisation.
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// y = x w + bias, x of (N, 3), bias of (M, 4).
const std::string kSymbolicModel = std::string(HONE_TEST_DATA) + "/onnx/symbolic.onnx";

std::string Npy(int rows, int columns, float value) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows) + ", " + std::to_string(columns) + "), }";
  header.resize(117, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + '\n';
  for (int i = 0; i < rows * columns; ++i) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

class Specialisations : public ::testing::Test {
 protected:
  Finished Hone(const std::vector<std::string>& args) { return RunHone(args, folder_.path()); }
  // Ones for x, tens for bias.
  Finished Run(const std::string& model, int rows, int bias_rows,
               const std::vector<std::string>& more = {}) {
    WriteFile(folder_ / "x.npy", Npy(rows, 3, 1));
    WriteFile(folder_ / "bias.npy", Npy(bias_rows, 4, 10));
    std::vector<std::string> args = {"run",     model,           "--input",      "x=x.npy",
                                     "--input", "bias=bias.npy", "--output-dir", "out"};
    args.insert(args.end(), more.begin(), more.end());
    return Hone(args);
  }
  void ExpectRows(size_t rows) {
    const std::string npy = ReadFile(folder_ / "out/y.npy");
    const size_t bytes = rows * 4 * sizeof(float);
    ASSERT_GT(npy.size(), bytes);
    ASSERT_THAT(npy, HasSubstr("(" + std::to_string(rows) + ", 4)"));
    std::vector<float> y(rows * 4);
    std::memcpy(y.data(), npy.data() + npy.size() - bytes, bytes);
    const float expected[4] = {11, 9, 7, 10};
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], expected[i % 4]) << i;
  }
  void Compile() {
    const Finished compile = Hone({"compile", kSymbolicModel, "-o", "m.so", "--threads", "1",
                                   "--shape", "x=1,3", "--shape", "bias=1,4", "--shape", "x=4,3"});
    ASSERT_EQ(compile.exit_code, 0) << compile.err;
    EXPECT_THAT(compile.out, AllOf(HasSubstr("specialisation x=1,3 bias=1,4: "),
                                   HasSubstr("specialisation x=4,3 bias=1,4: ")));
  }

  const std::vector<std::string> shapes_ = {"--shape", "x=1,3",   "--shape",
                                            "x=4,3",   "--shape", "bias=1,4"};
  TestFolder folder_;
};

TEST_F(Specialisations, TheInputsOfARunChoose) {
  Compile();
  for (const int rows : {4, 1}) {
    const Finished run = Run("m.so", rows, 1);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    ExpectRows(rows);
  }
  const Finished none = Run("m.so", 2, 1);
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("expected inputs of the shapes the module was compiled for "
                                  "(x=1,3 bias=1,4 or x=4,3 bias=1,4), found bias=1,4 x=2,3"));
}

TEST_F(Specialisations, OfAModuleAreNotBoundAgainByARun) {
  Compile();
  const Finished shape = Run("m.so", 4, 1, {"--shape", "x=4,3"});
  EXPECT_EQ(shape.exit_code, 2);
  EXPECT_THAT(shape.err, HasSubstr("expected --shape with a model, found m.so, which is compiled "
                                   "already: its --input files choose the shapes"));
  const Finished constant = Run("m.so", 4, 1, {"--constant", "x=x.npy"});
  EXPECT_EQ(constant.exit_code, 2);
  EXPECT_THAT(constant.err, HasSubstr("expected --constant with a model, found m.so"));
}

TEST_F(Specialisations, RunCompilesThemItselfOrTakesTheShapesOfItsInputs) {
  Finished run = Run(kSymbolicModel, 4, 1, shapes_);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ExpectRows(4);
  run = Run(kSymbolicModel, 3, 3);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ExpectRows(3);
}

TEST_F(Specialisations, TheIthShapesOfAllInputsBelongTogether) {
  const Finished compile = Hone({"compile", kSymbolicModel, "-o", "m.so", "--shape", "x=1,3",
                                 "--shape", "x=4,3", "--shape", "bias=1,4", "--shape", "bias=4,4"});
  ASSERT_EQ(compile.exit_code, 0) << compile.err;
  EXPECT_EQ(Run("m.so", 4, 4).exit_code, 0);
  ExpectRows(4);
  EXPECT_EQ(Run("m.so", 4, 1).exit_code, 3);
}

TEST_F(Specialisations, BenchTimesTheOneOfItsShape) {
  Compile();
  const auto document = RunHoneJson({"bench", "m.so", "--shape", "x=4,3"}, folder_.path());
  EXPECT_EQ(document["inputs"], "x=4,3 bias=1,4");
  const Finished none = Hone({"bench", "m.so", "--shape", "x=5,3"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("x=4,3 bias=1,4), found x=5,3"));
  const Finished unknown = Hone({"bench", "m.so", "--shape", "z=5,3"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("expected shapes of the module's inputs"));
  std::vector<std::string> several = {"bench", kSymbolicModel};
  several.insert(several.end(), shapes_.begin(), shapes_.end());
  EXPECT_EQ(Hone(several).exit_code, 2);
}

TEST_F(Specialisations, TheReportSaysWhichCallAKernel) {
  std::vector<std::string> args = {"compile", kSymbolicModel, "-o", "m.so"};
  args.insert(args.end(), shapes_.begin(), shapes_.end());
  const auto compiled = RunHoneJson(args, folder_.path());
  ASSERT_EQ(compiled["specialisations"].size(), 2u);
  EXPECT_EQ(compiled["specialisations"][1]["inputs"], "x=4,3 bias=1,4");
  ASSERT_EQ(compiled["kernels"].size(), 2u);
  EXPECT_EQ(compiled["kernels"][1]["specialisations"], nlohmann::json({1}));

  args = {"explain", kSymbolicModel};
  args.insert(args.end(), shapes_.begin(), shapes_.end());
  EXPECT_THAT(Hone(args).out, HasSubstr("called by  x=4,3 bias=1,4"));
  EXPECT_EQ(RunHoneJson(args, folder_.path())["specialisations"][0], "x=1,3 bias=1,4");

  args[0] = "show";
  EXPECT_THAT(Hone(args).out, AllOf(HasSubstr("// specialisation x=1,3 bias=1,4"),
                                    HasSubstr("// specialisation x=4,3 bias=1,4")));
  args.insert(args.end(), {"--format", "svg"});
  const Finished picture = Hone(args);
  EXPECT_EQ(picture.exit_code, 2);
  EXPECT_THAT(picture.err, HasSubstr("one specialisation, found 2"));
}

TEST_F(Specialisations, TuneHasTheTasksOfAll) {
  std::vector<std::string> args = {"tune", kSymbolicModel, "--plan"};
  args.insert(args.end(), shapes_.begin(), shapes_.end());
  EXPECT_EQ(RunHoneJson(args, folder_.path())["tasks"].size(), 2u);
}

TEST_F(Specialisations, ShapesThatDoNotGoTogetherAreRefused) {
  const Finished uneven =
      Hone({"compile", kSymbolicModel, "-o", "m.so", "--shape", "x=1,3", "--shape", "x=2,3",
            "--shape", "x=4,3", "--shape", "bias=1,4", "--shape", "bias=4,4"});
  EXPECT_EQ(uneven.exit_code, 2);
  EXPECT_THAT(uneven.err, HasSubstr("expected one --shape for input bias, which all "
                                    "specialisations share, or 3, one for each, found 2"));
  const Finished twice = Hone({"compile", kSymbolicModel, "-o", "m.so", "--shape", "x=1,3",
                               "--shape", "x=1,3", "--shape", "bias=1,4"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("found bias=1,4 x=1,3 twice"));
  WriteFile(folder_ / "m.relay", "def @main(%x: float32) { %x }");
  EXPECT_EQ(Hone({"show", "m.relay", "--shape", "x=1"}).exit_code, 2);
}

}  // namespace
}  // namespace hone::cli
