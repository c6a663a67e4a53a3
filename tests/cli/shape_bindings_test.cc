// --shape and --dim: which specialisations they ask for.
#include "cli/shape_bindings.h"

#include "cli/model_options.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const std::vector<std::string>& shapes, const std::vector<std::string>& dims) {
  const auto parsed = ParseSpecialisations(shapes, dims);
  EXPECT_FALSE(parsed.ok());
  return std::string(parsed.status().message());
}

TEST(ShapeBindingsTest, OneSpecialisationWhereNothingIsGivenTwice) {
  const auto all = ParseSpecialisations({"x=1,3"}, {"batch=4", "past + 1=7", "a=b=2"});
  ASSERT_TRUE(all.ok()) << all.status();
  const Specialisation expected = {{{"x", {1, 3}}}, {{"batch", 4}, {"past + 1", 7}, {"a=b", 2}}};
  EXPECT_THAT(*all, testing::ElementsAre(expected));
}

TEST(ShapeBindingsTest, ADimensionGivenAgainMakesOneMore) {
  const auto all = ParseSpecialisations({"x=1,3", "x=2,3"}, {"n=4", "n=8", "m=1"});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(*all, testing::ElementsAre(Specialisation{{{"x", {1, 3}}}, {{"m", 1}, {"n", 4}}},
                                         Specialisation{{{"x", {2, 3}}}, {{"m", 1}, {"n", 8}}}));
}

TEST(ShapeBindingsTest, WhatIsNoBindingIsRefused) {
  for (const char* const text :
       {"batch", "=4", "batch=", "batch=-1", "batch=x", "batch=1,2", "batch=12345678901"}) {
    EXPECT_THAT(Refusal({}, {text}), HasSubstr("expected --dim name=4, found")) << text;
  }
}

TEST(ShapeBindingsTest, NumbersOfBindingsThatDoNotFitAreRefused) {
  EXPECT_THAT(Refusal({"x=1", "x=2"}, {"n=1", "n=2", "n=3"}), HasSubstr("one --shape for input x"));
  EXPECT_THAT(Refusal({}, {"n=1", "n=1"}), HasSubstr("found n=1 twice"));
}

TEST(ShapeBindingsTest, WhereOneIsTakenSeveralAreRefused) {
  EXPECT_TRUE(ParseOneSpecialisation({"x=1"}, {"n=1"}, "bench").ok());
  const auto two = ParseOneSpecialisation({}, {"n=1", "n=2"}, "bench");
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(std::string(two.status().message()), HasSubstr("bench takes one specialisation"));
}

// y = x w + bias, x of (N, 3), bias of (M, 4).
TEST(ShapeBindingsTest, DimensionsReachTheModel) {
  ModelOptions model;
  model.path = std::string(HONE_TEST_DATA) + "/onnx/symbolic.onnx";
  model.dims = {"N=2", "N=5", "M=1"};
  const auto modules = LoadSpecialisations(model);
  ASSERT_TRUE(modules.ok()) << modules.status();
  ASSERT_EQ(modules->size(), 2U);
  EXPECT_EQ(InputShapes(modules->at(0)), "x=2,3 bias=1,4");
  EXPECT_EQ(InputShapes(modules->at(1)), "x=5,3 bias=1,4");
}

}  // namespace
}  // namespace hone::cli
