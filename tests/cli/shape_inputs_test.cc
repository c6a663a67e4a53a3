// Models whose inputs decide a shape: `run` specialises on them by itself, other verbs take them
// with --constant.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

const std::string kCase = std::string(HONE_TEST_DATA) + "/onnx/test_reshape_reordered_last_dims";
const std::string kReshapeModel = kCase + "/model.onnx";
const std::string kData = kCase + "/test_data_set_0/input_0.pb";
const std::string kShape = kCase + "/test_data_set_0/input_1.pb";

class ShapeInputs : public ::testing::Test {
 protected:
  Finished Hone(const std::vector<std::string>& args) { return RunHone(args, folder_.path()); }
  void ExpectResult(const std::string& folder) {
    EXPECT_EQ(ReadFile(folder_ / folder + "/reshaped.pb"),
              ReadFile(kCase + "/test_data_set_0/output_0.pb"));
  }

  TestFolder folder_;
};

TEST_F(ShapeInputs, RunSpecialisesOnThem) {
  const Finished run = Hone({"run", kReshapeModel, "--input", "data=" + kData, "--input",
                             "shape=" + kShape, "--output-dir", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ExpectResult("out");
}

TEST_F(ShapeInputs, CompileTakesThemAsConstants) {
  const Finished compile =
      Hone({"compile", kReshapeModel, "-o", "m.so", "--constant", "shape=" + kShape});
  ASSERT_EQ(compile.exit_code, 0) << compile.err;
  ASSERT_EQ(Hone({"run", "m.so", "--input", "data=" + kData, "--output-dir", "out"}).exit_code, 0);
  ExpectResult("out");
}

TEST_F(ShapeInputs, WithoutThemTheErrorNamesInputAndFlag) {
  const Finished compile = Hone({"compile", kReshapeModel, "-o", "m.so"});
  EXPECT_EQ(compile.exit_code, 3);
  EXPECT_THAT(compile.err, HasSubstr("the input(s) shape: give their values with --constant"));
  EXPECT_EQ(
      Hone({"run", kReshapeModel, "--input", "data=" + kData, "--output-dir", "out"}).exit_code, 3);
  const Finished typo = Hone({"run", kReshapeModel, "--input", "data=" + kData, "--input",
                              "shade=" + kShape, "--output-dir", "out"});
  EXPECT_EQ(typo.exit_code, 3);
  EXPECT_THAT(typo.err, HasSubstr("no input \"shade\"; it has data, shape"));
}

TEST_F(ShapeInputs, APartOfAModelIsHadByCut) {
  WriteFile(folder_ / "m.relay", "def @main(%x: Tensor[(2), float32]) { negative(%x) }\n");
  EXPECT_EQ(Hone({"show", "m.relay", "--cut", "x"}).exit_code, 2);
  const Finished show = Hone({"show", kReshapeModel, "--cut", "data"});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out, HasSubstr("data"));
  const Finished run = Hone({"run", kReshapeModel, "--cut", "shape", "--input", "shape=" + kShape,
                             "--output-dir", "out"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(ReadFile(folder_ / "out/shape.npy"), "");
  const Finished with_all =
      Hone({"run", kReshapeModel, "--cut", "shape", "--input", "shape=" + kShape, "--input",
            "data=" + kData, "--output-dir", "out"});
  EXPECT_EQ(with_all.exit_code, 0) << with_all.err;
  EXPECT_THAT(with_all.err, HasSubstr("--cut left out what reads it"));
  const Finished typo = Hone({"compile", kReshapeModel, "-o", "m.so", "--cut", "reshape"});
  EXPECT_EQ(typo.exit_code, 3);
  EXPECT_THAT(typo.err, HasSubstr("its outputs are reshaped"));
}

}  // namespace
}  // namespace hone::cli
