// Modules compiled for several shapes: the shapes of the inputs that are given choose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/c_api.h"
#include "runtime/module.h"
#include "tests/runtime/c_module.h"
#include "tests/runtime/sample_modules.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

class SpecialisationTest : public testing::Test {
 protected:
  explicit SpecialisationTest(const std::string& source = ThreeShapesModule()) {
    const std::string path = CompileC(folder_, "three", source);
    EXPECT_EQ(hone_open(path.c_str(), 1, &model_), HONE_OK) << hone_last_error();
  }
  ~SpecialisationTest() override { hone_close(model_); }

  // As other languages do it: the shape first, then the data.
  int Set(uint32_t input, const std::vector<float>& data) {
    const int64_t shape[1] = {static_cast<int64_t>(data.size())};
    const int code = hone_choose_shape(model_, input, 1, shape);
    if (code != HONE_OK) return code;
    return hone_set_input(model_, input, data.data(), data.size() * sizeof(float));
  }
  std::vector<float> Output() const {
    hone_tensor_info info{};
    EXPECT_EQ(hone_output_info(model_, 0, &info), HONE_OK);
    const auto* data = static_cast<const float*>(hone_output(model_, 0));
    return {data, data + info.shape[0]};
  }
  void ExpectRun(size_t count, float value) {
    ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
    EXPECT_EQ(Output().size(), count);
    EXPECT_THAT(Output(), Each(value));
  }

  TestFolder folder_;
  hone_model* model_ = nullptr;
};

class ThreeInputsTest : public SpecialisationTest {
 protected:
  ThreeInputsTest() : SpecialisationTest(ThreeInputsModule()) {}
};

std::vector<float> All(size_t count, float value) { return std::vector<float>(count, value); }

TEST_F(SpecialisationTest, TheShapesOfTheInputsChoose) {
  EXPECT_EQ(hone_specialisation_count(model_), 3u);
  ASSERT_EQ(Set(0, All(4, 1)), HONE_OK);
  ASSERT_EQ(Set(1, All(4, 10)), HONE_OK);
  ExpectRun(4, 12);
  ASSERT_EQ(Set(0, All(8, 2)), HONE_OK);
  ASSERT_EQ(Set(1, All(8, 20)), HONE_OK);
  EXPECT_EQ(hone_specialisation(model_), 1u);
  ExpectRun(8, 24);
  ASSERT_EQ(Set(0, All(4, 3)), HONE_OK);
  ASSERT_EQ(Set(1, All(4, 30)), HONE_OK);
  ExpectRun(4, 36);
}

TEST_F(SpecialisationTest, AnInputThatStaysAsItWasGoesAlong) {
  ASSERT_EQ(Set(0, All(8, 1)), HONE_OK);
  ASSERT_EQ(Set(1, All(8, 10)), HONE_OK);
  ExpectRun(8, 12);
  ASSERT_EQ(Set(1, All(1, 100)), HONE_OK);
  EXPECT_EQ(hone_specialisation(model_), 2u);
  ExpectRun(8, 102);
}

TEST_F(SpecialisationTest, InputsGivenInOtherShapesAreMissedNotMadeUp) {
  ASSERT_EQ(Set(0, All(4, 1)), HONE_OK);
  ASSERT_EQ(Set(1, All(4, 10)), HONE_OK);
  ASSERT_EQ(Set(0, All(8, 1)), HONE_OK);
  EXPECT_EQ(hone_run(model_), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), AllOf(HasSubstr("input b"), HasSubstr("x=8 b=8")));
  double seconds = 0;
  EXPECT_EQ(hone_time(model_, 1, &seconds), HONE_BAD_INPUT);
  ASSERT_EQ(Set(1, All(1, 10)), HONE_OK);
  ExpectRun(8, 12);
}

TEST_F(SpecialisationTest, AnUnknownShapeNamesThoseThereAre) {
  EXPECT_EQ(Set(0, All(5, 1)), HONE_BAD_INPUT);
  EXPECT_STREQ(hone_last_error(),
               "expected inputs of the shapes the module was compiled for (x=4 b=4 or x=8 b=8 or "
               "x=8 b=1), found x=5");
  EXPECT_EQ(hone_specialisation(model_), 0u);
}

TEST_F(SpecialisationTest, ChosenByNumberForTimings) {
  ASSERT_EQ(Set(0, All(4, 1)), HONE_OK);
  ASSERT_EQ(hone_choose_specialisation(model_, 2), HONE_OK);
  double seconds = 0;
  EXPECT_EQ(hone_time(model_, 1, &seconds), HONE_OK);
  EXPECT_EQ(hone_choose_specialisation(model_, 3), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("below 3, found 3"));
  hone_tensor_info info{};
  ASSERT_EQ(hone_specialisation_input_info(model_, 1, 1, &info), HONE_OK);
  EXPECT_EQ(info.shape[0], 8);
  ASSERT_EQ(hone_specialisation_input_info(model_, 3, 1, &info), HONE_BAD_INPUT);
}

TEST_F(SpecialisationTest, DlpackTensorsBringTheirShape) {
  std::vector<float> data = All(8, 1);
  int64_t shape[1] = {8};
  hone_dl_tensor tensor{data.data(), {HONE_DL_CPU, 0}, 1, {HONE_DL_FLOAT, 32, 1},
                        shape,       nullptr,          0};
  ASSERT_EQ(hone_set_input_dlpack(model_, 0, &tensor), HONE_OK) << hone_last_error();
  EXPECT_EQ(hone_specialisation(model_), 1u);
  ASSERT_EQ(hone_set_input_dlpack(model_, 1, &tensor), HONE_OK);
  ExpectRun(8, 3);
  shape[0] = 6;
  EXPECT_EQ(hone_set_input_dlpack(model_, 0, &tensor), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("found x=6"));
}

TEST_F(SpecialisationTest, BindingsGoAlongOrEnd) {
  alignas(64) float x[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  alignas(64) float y[8] = {};
  ASSERT_EQ(hone_choose_specialisation(model_, 1), HONE_OK);
  ASSERT_EQ(hone_bind_input(model_, 0, x), HONE_OK);
  ASSERT_EQ(hone_bind_output(model_, 0, y), HONE_OK);
  ASSERT_EQ(Set(1, All(1, 5)), HONE_OK);
  ASSERT_EQ(hone_run(model_), HONE_OK);
  EXPECT_THAT(y, Each(7));
  ASSERT_EQ(Set(0, All(4, 2)), HONE_OK);
  ASSERT_EQ(Set(1, All(4, 1)), HONE_OK);
  ASSERT_EQ(hone_run(model_), HONE_OK);
  EXPECT_THAT(Output(), Each(5));
  EXPECT_THAT(y, Each(7));
  EXPECT_THAT(x, Each(1));
}

TEST_F(SpecialisationTest, AnInputComesBackFromPastAnotherShape) {
  ASSERT_EQ(Set(0, All(8, 1)), HONE_OK);
  ASSERT_EQ(Set(1, All(8, 10)), HONE_OK);
  ASSERT_EQ(Set(1, All(4, 10)), HONE_OK);
  EXPECT_EQ(hone_specialisation(model_), 0u);
  EXPECT_EQ(hone_run(model_), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("input x"));
  ASSERT_EQ(Set(1, All(1, 100)), HONE_OK);
  EXPECT_EQ(hone_specialisation(model_), 2u);
  ExpectRun(8, 102);
}

TEST_F(ThreeInputsTest, InputsInOrderPassSpecialisationsThatTheyDoNotFit) {
  for (const uint32_t input : {0, 1, 2}) ASSERT_EQ(Set(input, All(1, 1)), HONE_OK);
  ExpectRun(1, 111);
  ASSERT_EQ(Set(0, All(1, 2)), HONE_OK);
  ASSERT_EQ(Set(1, All(2, 3)), HONE_OK);
  EXPECT_EQ(hone_specialisation(model_), 1u);
  ASSERT_EQ(Set(2, All(2, 4)), HONE_OK);
  EXPECT_EQ(hone_specialisation(model_), 2u);
  ExpectRun(1, 234);
}

TEST_F(SpecialisationTest, ABindingRestsWhileAnotherShapeIsChosen) {
  alignas(64) float x[4] = {1, 1, 1, 1};
  ASSERT_EQ(Set(0, All(4, 50)), HONE_OK);
  ASSERT_EQ(hone_bind_input(model_, 0, x), HONE_OK);
  ASSERT_EQ(Set(1, All(8, 10)), HONE_OK);
  EXPECT_EQ(hone_run(model_), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("input x"));
  ASSERT_EQ(Set(1, All(4, 10)), HONE_OK);
  ExpectRun(4, 12);
  x[0] = x[1] = x[2] = x[3] = 2;
  ExpectRun(4, 14);
}

TEST_F(SpecialisationTest, ABindingEndsWithTheNextDataAndNeverReceivesIt) {
  alignas(64) const float x[4] = {1, 1, 1, 1};
  ASSERT_EQ(Set(1, All(4, 10)), HONE_OK);
  ASSERT_EQ(hone_bind_input(model_, 0, x), HONE_OK);
  ASSERT_EQ(Set(0, All(4, 3)), HONE_OK);
  EXPECT_THAT(x, Each(1));
  ExpectRun(4, 16);
  ASSERT_EQ(hone_bind_input(model_, 0, x), HONE_OK);
  ExpectRun(4, 12);
  ASSERT_EQ(hone_bind_input(model_, 0, nullptr), HONE_OK);
  ExpectRun(4, 16);
}

TEST_F(SpecialisationTest, WhatAChoiceByNumberExcusedComesBack) {
  ASSERT_EQ(Set(0, All(4, 1)), HONE_OK);
  ASSERT_EQ(Set(1, All(4, 10)), HONE_OK);
  ASSERT_EQ(hone_choose_specialisation(model_, 1), HONE_OK);
  double seconds = 0;
  EXPECT_EQ(hone_time(model_, 1, &seconds), HONE_OK);
  EXPECT_EQ(hone_run(model_), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("x (float32[8]), b (float32[8])"));
  ASSERT_EQ(hone_choose_specialisation(model_, 0), HONE_OK);
  ExpectRun(4, 12);
}

TEST_F(SpecialisationTest, ARefusedDlpackTensorChangesNothing) {
  alignas(64) float data[32] = {};
  int64_t shape[1] = {8};
  int64_t strides[1] = {2};
  hone_dl_tensor tensor{data, {HONE_DL_CPU, 0}, 1, {HONE_DL_FLOAT, 32, 1}, shape, strides, 0};
  ASSERT_EQ(Set(0, All(4, 1)), HONE_OK);
  ASSERT_EQ(Set(1, All(4, 10)), HONE_OK);
  EXPECT_EQ(hone_bind_input_dlpack(model_, 0, &tensor), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("row-major"));
  tensor.strides = nullptr;
  tensor.byte_offset = 4;
  EXPECT_EQ(hone_bind_input_dlpack(model_, 0, &tensor), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("aligned to 64"));
  tensor.byte_offset = 0;
  tensor.data = nullptr;
  EXPECT_EQ(hone_set_input_dlpack(model_, 0, &tensor), HONE_BAD_INPUT);
  EXPECT_EQ(hone_specialisation(model_), 0u);
  ExpectRun(4, 12);
}

TEST(Specialisations, OfDifferentTypesAreADamagedModule) {
  TestFolder folder;
  const std::string path = CompileC(folder, "odd", "#define OTHER_TYPE 7\n" + ThreeShapesModule());
  std::string error;
  EXPECT_EQ(Module::Open(path, &error), nullptr);
  EXPECT_THAT(error, HasSubstr("differ in more than shapes"));
}

}  // namespace
}  // namespace hone
