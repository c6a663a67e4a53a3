#include "measure_server/output_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/data_type.h"

namespace hone::measure {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kVectorShape[1] = {3};

hone_buffer Output(DataType type, const char* layout = "C", uint64_t elements = 3) {
  hone_buffer buffer{};
  buffer.name = "y";
  buffer.dtype = static_cast<uint8_t>(type);
  buffer.rank = 1;
  buffer.shape = kVectorShape;
  buffer.layout = layout;
  buffer.size_bytes = elements * static_cast<uint64_t>(SizeBytes(type));
  return buffer;
}

OutputVerdict Check(std::vector<float> found, std::vector<double> expected,
                    std::vector<double> magnitudes, double bound = 1) {
  return CheckOutput(Output(DataType::kFloat32), found.data(), {expected.data(), magnitudes.data()},
                     bound);
}

OutputVerdict CheckTransformed(std::vector<float> found, std::vector<double> expected,
                               std::vector<double> magnitudes, double bound) {
  hone_buffer output = Output(DataType::kFloat32);
  output.flags = HONE_BUFFER_TRANSFORMED;
  return CheckOutput(output, found.data(), {expected.data(), magnitudes.data()}, bound);
}

TEST(OutputCheckTest, AllowsWhatRoundingMayDo) {
  const std::vector<double> expected = {1, 2, 3};
  const std::vector<double> magnitudes = {64, 2, 3};
  EXPECT_TRUE(Check({1, 2, 3}, expected, magnitudes).ok);
  const OutputVerdict near = Check({1 + 0x1p-19f, 2, 3}, expected, magnitudes);
  EXPECT_TRUE(near.ok);
  EXPECT_NEAR(near.error_ratio, 0.5, 1e-6);
  EXPECT_FALSE(Check({1, 2 + 0x1p-19f, 3}, expected, magnitudes).ok);
  EXPECT_TRUE(Check({1, 2 + 0x1p-19f, 3}, expected, magnitudes, 32).ok);
}

// A Winograd convolution, where all that a result's window holds is padding and zeros.
TEST(OutputCheckTest, TransformsMaySpreadRoundingOverResultsOfNoProducts) {
  EXPECT_TRUE(CheckTransformed({0x1p-22f, 90, 80}, {0, 90, 80}, {0, 128, 100}, 20).ok);
  EXPECT_FALSE(CheckTransformed({0x1p-12f, 90, 80}, {0, 90, 80}, {0, 128, 100}, 20).ok);
  EXPECT_TRUE(CheckTransformed({0x1p-10f, 90, 80}, {0, 90, 80}, {0, 128, 100}, 2560).ok);
  EXPECT_FALSE(CheckTransformed({0x1p-9f, 90, 80}, {0, 90, 80}, {0, 128, 100}, 2560).ok);
  const double infinity = INFINITY;
  EXPECT_FALSE(
      CheckTransformed({0x1p-12f, INFINITY, 80}, {0, infinity, 80}, {0, infinity, 100}, 20).ok);
}

// Divisions by zero make such magnitudes; results elsewhere are judged as ever.
TEST(OutputCheckTest, ALargeMagnitudeLetsNothingPassElsewhere) {
  EXPECT_TRUE(Check({1, 2, 3}, {1, 2, 3}, {1, 2, 2e300}, 20).ok);
  EXPECT_FALSE(Check({2, 3, 3}, {1, 2, 3}, {1, 2, 2e300}, 20).ok);
  EXPECT_FALSE(Check({0x1p-22f, 90, 80}, {0, 90, 80}, {0, 128, 100}, 20).ok);
}

TEST(OutputCheckTest, NamesTheFirstWrongElement) {
  const OutputVerdict verdict = Check({1, 5, 7}, {1, 2, 3}, {1, 2, 3});
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.message, HasSubstr("y[1] is 5, expected 2"));
  EXPECT_THAT(verdict.message, HasSubstr("2 of 3 elements"));
}

TEST(OutputCheckTest, NanAndInfinityMustBeTheSame) {
  const double nan = std::nan("");
  EXPECT_TRUE(Check({NAN, INFINITY, 0}, {nan, INFINITY, 0}, {nan, INFINITY, 0}).ok);
  EXPECT_FALSE(Check({NAN, 1, 0}, {1, 1, 0}, {1, 1, 0}).ok);
  EXPECT_FALSE(Check({1, 1, 0}, {nan, 1, 0}, {1, 1, 0}).ok);
  EXPECT_FALSE(Check({-INFINITY, 1, 0}, {INFINITY, 1, 0}, {1, 1, 0}).ok);
}

TEST(OutputCheckTest, IntegersMustBeEqual) {
  const std::vector<double> expected = {1, -2, 3};
  const std::vector<double> magnitudes = {0, 0, 0};
  const ReferenceOutput reference = {expected.data(), magnitudes.data()};
  const int32_t same[3] = {1, -2, 3};
  const int32_t other[3] = {1, -1, 3};
  EXPECT_TRUE(CheckOutput(Output(DataType::kInt32), same, reference, 100).ok);
  EXPECT_FALSE(CheckOutput(Output(DataType::kInt32), other, reference, 100).ok);
}

TEST(OutputCheckTest, QuantisedFloatsMayTakeTheStepTheReferenceAllows) {
  const std::vector<double> expected = {1, -2, 3};
  const std::vector<double> magnitudes = {0, 0x1p20, 0};
  const ReferenceOutput reference = {expected.data(), magnitudes.data()};
  const int8_t beside[3] = {1, -1, 3};
  const int8_t far[3] = {1, 40, 3};
  const int8_t elsewhere[3] = {2, -2, 3};
  EXPECT_TRUE(CheckOutput(Output(DataType::kInt8), beside, reference, 17).ok);
  EXPECT_FALSE(CheckOutput(Output(DataType::kInt8), far, reference, 17).ok);
  EXPECT_FALSE(CheckOutput(Output(DataType::kInt8), elsewhere, reference, 17).ok);
}

TEST(OutputCheckTest, PadLanesMustBeZero) {
  const std::vector<double> expected = {1, 2, 3};
  const ReferenceOutput reference = {expected.data(), expected.data()};
  const float clean[4] = {1, 2, 3, 0};
  const float dirty[4] = {1, 2, 3, 4};
  const hone_buffer output = Output(DataType::kFloat32, "C4c", 4);
  EXPECT_TRUE(CheckOutput(output, clean, reference, 1).ok);
  const OutputVerdict verdict = CheckOutput(output, dirty, reference, 1);
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.message, HasSubstr("pad lane"));
}

}  // namespace
}  // namespace hone::measure
