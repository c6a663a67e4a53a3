#include "compiler/loop/features.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "compiler/loop/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/loop/random_nest.h"

namespace hone::loop {
namespace {

CpuTarget TestTarget() {
  CpuTarget target;
  target.triple = "x86_64-linux-gnu";
  target.cpu = "x86-64-v4";
  target.features = {"+avx512f", "+fma"};
  target.facts.l1_bytes = 32 << 10;
  target.facts.l2_bytes = 1 << 20;
  target.facts.l3_bytes = 32 << 20;
  target.threads = 2;
  return target;
}

// A matrix product of 64 x 64 with the loops `order` from outside to inside.
std::string Matmul(const std::string& i, const std::string& j, const std::string& k) {
  return "nest @m {\n input %a: float32[512, 512] NC\n input %b: float32[512, 512] NC\n"
         " output %c: float32[512, 512] NC\n run @m {\n" +
         i + " in 0..512 {" + j + " in 0..512 {" + k +
         " in 0..512 { %c[i, j] = %c[i, j] + %a[i, k] * %b[k, j] } } } } }";
}

double Value(const NestFeatures& features, const std::string& name) {
  const auto& names = FeatureNames();
  const auto it = std::find(names.begin(), names.end(), name);
  EXPECT_NE(it, names.end()) << name;
  return it == names.end() ? -1 : features.values[static_cast<size_t>(it - names.begin())];
}

NestFeatures FeaturesOf(const std::string& text) {
  const auto nest = ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return ExtractFeatures(*nest, TestTarget());
}

TEST(Features, HaveOneNameEach) {
  const auto& names = FeatureNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_GE(names.size(), 120u);
  EXPECT_LE(names.size(), 176u);
  EXPECT_EQ(FeaturesOf(Matmul("for i", "for j", "for k")).values.size(), names.size());
}

TEST(Features, SeeStridesVectorsAndParallelLoops) {
  const NestFeatures good = FeaturesOf(Matmul("parallel i", "for k", "vectorize j"));
  const NestFeatures bad = FeaturesOf(Matmul("for i", "for j", "for k"));
  EXPECT_EQ(Value(good, "main.fma"), 1);
  EXPECT_EQ(Value(good, "main.vector"), 512);
  EXPECT_EQ(Value(good, "main.grid"), std::log2(513.0f));
  EXPECT_EQ(Value(bad, "main.vector"), 1);
  EXPECT_EQ(Value(good, "level0.kind"), 2);
  EXPECT_EQ(Value(good, "nest.flops"), Value(bad, "nest.flops"));
  EXPECT_LT(good.analytic_seconds, bad.analytic_seconds);
}

TEST(Features, FootprintGrowsWithLoopsAndFitsTheBuffers) {
  const NestFeatures features = FeaturesOf(Matmul("for i", "for j", "for k"));
  EXPECT_LE(Value(features, "level0.footprint"), Value(features, "level1.footprint"));
  EXPECT_NEAR(Value(features, "level2.footprint"), std::log2(3.0 * 512 * 512 * 4), 0.01);
  EXPECT_GT(Value(features, "l1.traffic"), Value(features, "l3.traffic"));
  EXPECT_EQ(Value(features, "l3.fitting_loops"), 3);
}

TEST(Features, CountRegisterBuffers) {
  const NestFeatures features = FeaturesOf(R"(nest @k {
    output %y: float32[64] C
    run @l {
      alloc register %acc: float32[32, 16] NC {
        vectorize i in 0..16 { %acc[0, i] = 1.0 }
        vectorize j in 0..16 { %y[j] = %acc[0, j] }
      }
    } })");
  EXPECT_EQ(Value(features, "main.registers"), 32);
  EXPECT_EQ(Value(features, "main.spills"), 1);
}

TEST(Features, AreFiniteAndForgetNamesOnAnyNest) {
  Random random(7);
  for (int n = 0; n < 300; ++n) {
    const Nest nest = RandomNest(random);
    const NestFeatures features = ExtractFeatures(nest, TestTarget());
    for (float value : features.values) ASSERT_TRUE(std::isfinite(value)) << ToText(nest);
    ASSERT_TRUE(std::isfinite(features.analytic_seconds));
    ASSERT_EQ(features.values, ExtractFeatures(*ParseNest(ToText(nest)), TestTarget()).values);
  }
}

}  // namespace
}  // namespace hone::loop
