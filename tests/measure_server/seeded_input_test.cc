#include "measure_server/seeded_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "measure_server/element.h"
#include "measure_server/layout_map.h"

namespace hone::measure {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;

hone_buffer Buffer(DataType type, const std::vector<int64_t>& shape, const char* layout,
                   double low = 0, double high = 0) {
  hone_buffer buffer{};
  buffer.name = "x";
  buffer.dtype = static_cast<uint8_t>(type);
  buffer.rank = static_cast<uint16_t>(shape.size());
  buffer.shape = shape.data();
  buffer.layout = layout;
  buffer.size_bytes = static_cast<uint64_t>(
      Layout::Parse(layout, buffer.rank)->ElementCount(shape) * SizeBytes(type));
  buffer.domain_low = low;
  buffer.domain_high = high;
  return buffer;
}

std::vector<double> Values(const hone_buffer& buffer, InputSet set, uint64_t seed = 1,
                           uint32_t operand = 0) {
  std::vector<char> memory(buffer.size_bytes, 'x');
  FillSeeded(buffer, operand, seed, set, memory.data());
  std::vector<double> values(static_cast<size_t>(LayoutMap::Of(buffer).logical_count()));
  LayoutMap::Of(buffer).ForEach([&](int64_t linear, int64_t offset) {
    values[static_cast<size_t>(linear)] =
        LoadElement(static_cast<DataType>(buffer.dtype), memory.data(), offset);
  });
  return values;
}

TEST(SeededInputTest, DoesNotDependOnTheLayout) {
  const std::vector<int64_t> shape = {2, 19, 3, 5};
  const auto plain = Values(Buffer(DataType::kFloat32, shape, "NCHW"), InputSet::kFloat);
  EXPECT_EQ(Values(Buffer(DataType::kFloat32, shape, "NHWC"), InputSet::kFloat), plain);
  EXPECT_EQ(Values(Buffer(DataType::kFloat32, shape, "NCHW8c"), InputSet::kFloat), plain);
  EXPECT_EQ(Values(Buffer(DataType::kFloat32, shape, "NC2c8cHW"), InputSet::kFloat), plain);
}

TEST(SeededInputTest, DependsOnSeedOperandAndSet) {
  const std::vector<int64_t> shape = {100};
  const hone_buffer buffer = Buffer(DataType::kFloat32, shape, "C");
  const auto values = Values(buffer, InputSet::kFloat, 1, 0);
  EXPECT_NE(Values(buffer, InputSet::kFloat, 2, 0), values);
  EXPECT_NE(Values(buffer, InputSet::kFloat, 1, 1), values);
  EXPECT_NE(Values(buffer, InputSet::kExact, 1, 0), values);
  EXPECT_EQ(Values(buffer, InputSet::kFloat, 1, 0), values);
}

TEST(SeededInputTest, PadLanesAreZero) {
  const std::vector<int64_t> shape = {1, 3, 2};
  const hone_buffer buffer = Buffer(DataType::kFloat32, shape, "NCW4c");
  std::vector<float> memory(8, 7);
  FillSeeded(buffer, 0, 1, InputSet::kFloat, memory.data());
  EXPECT_EQ(memory[3], 0);
  EXPECT_EQ(memory[7], 0);
  EXPECT_THAT(LayoutMap::Of(buffer).PadLanes(), ElementsAre(3, 7));
}

TEST(SeededInputTest, ExactInputsAreSmallIntegers) {
  const std::vector<int64_t> shape = {1000};
  const auto values = Values(Buffer(DataType::kFloat32, shape, "C"), InputSet::kExact);
  EXPECT_EQ(std::set<double>(values.begin(), values.end()), (std::set<double>{-2, -1, 0, 1, 2}));
}

TEST(SeededInputTest, StaysInTheDomain) {
  const std::vector<int64_t> shape = {1000};
  for (const InputSet set : {InputSet::kExact, InputSet::kFloat}) {
    EXPECT_THAT(Values(Buffer(DataType::kInt64, shape, "C", 0, 9), set),
                Each(testing::AllOf(testing::Ge(0), testing::Le(9))));
    EXPECT_THAT(Values(Buffer(DataType::kFloat32, shape, "C", 0.25, 0.75), set),
                Each(testing::AllOf(testing::Ge(0.25), testing::Le(0.75))));
  }
  EXPECT_THAT(Values(Buffer(DataType::kFloat32, shape, "C", 0.5, 20), InputSet::kExact),
              Each(AnyOf(1, 2, 3, 4, 5)));
  EXPECT_THAT(Values(Buffer(DataType::kBool, shape, "C"), InputSet::kFloat), Each(AnyOf(0, 1)));
}

TEST(SeededInputTest, RowOffsetsAscendFromEndToEnd) {
  const std::vector<int64_t> shape = {300};
  for (const double nonzeros : {0.0, 1.0, 1000.0}) {
    hone_buffer buffer = Buffer(DataType::kInt32, shape, "C", 0, nonzeros);
    buffer.flags = HONE_BUFFER_ASCENDING;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const auto offsets = Values(buffer, InputSet::kExact, seed);
      EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
      EXPECT_EQ(offsets.front(), 0);
      EXPECT_EQ(offsets.back(), nonzeros);
    }
    EXPECT_EQ(Values(buffer, InputSet::kExact, 1) == Values(buffer, InputSet::kExact, 2),
              nonzeros == 0);
  }
}

// Whoever reproduces a record must draw the same numbers: these never change.
TEST(SeededInputTest, DrawsWhatItAlwaysDrew) {
  const std::vector<int64_t> shape = {4};
  const auto exact = Values(Buffer(DataType::kFloat32, shape, "C"), InputSet::kExact, 42, 1);
  EXPECT_THAT(exact, ElementsAre(0, -1, 1, 2));
}

TEST(ElementTest, RoundsHalfPrecision) {
  std::vector<uint16_t> bits(1);
  for (const double value : {0.0, 1.0, -2.5, 65504.0, 0x1p-24, 0x1p-14, 0.333251953125}) {
    StoreElement(DataType::kFloat16, bits.data(), 0, value);
    EXPECT_EQ(LoadElement(DataType::kFloat16, bits.data(), 0), value);
  }
  StoreElement(DataType::kFloat16, bits.data(), 0, 1e6);
  EXPECT_TRUE(std::isinf(LoadElement(DataType::kFloat16, bits.data(), 0)));
  StoreElement(DataType::kFloat16, bits.data(), 0, 1 + 0x1.8p-11);
  EXPECT_EQ(LoadElement(DataType::kFloat16, bits.data(), 0), 1 + 0x1p-10);
  StoreElement(DataType::kBFloat16, bits.data(), 0, -3.140625);
  EXPECT_EQ(LoadElement(DataType::kBFloat16, bits.data(), 0), -3.140625);
}

}  // namespace
}  // namespace hone::measure
