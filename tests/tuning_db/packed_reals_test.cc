#include "tuning_db/sqlite/packed_reals.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/random.h"

namespace hone::tuning_db::sqlite {
namespace {

// By their bits: NaN, and zeros of both signs, come back as they were.
std::vector<uint64_t> BitsOf(const std::vector<double>& values) {
  std::vector<uint64_t> bits;
  for (const double value : values) bits.push_back(std::bit_cast<uint64_t>(value));
  return bits;
}

void ExpectSame(const std::vector<double>& values) {
  const auto unpacked = UnpackReals(PackReals(values));
  ASSERT_TRUE(unpacked.has_value());
  EXPECT_EQ(BitsOf(*unpacked), BitsOf(values));
}

TEST(PackedReals, ComeBackAsTheyWere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& values : std::vector<std::vector<double>>{
           {}, {1234.5}, {1, 1, 1}, {0.0, -0.0}, {nan, 1, infinity, -1, 5e-324}, {1, nan}}) {
    ExpectSame(values);
  }
  Random random(7);
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> values(random.Below(20));
    const double scale = std::exp2(static_cast<double>(random.Below(60)) - 30);
    for (double& value : values) value = scale * (1 + random.Uniform() * 0.1);
    ExpectSame(values);
  }
}

TEST(PackedReals, FiguresThatAreNearEachOtherTakeLessRoom) {
  std::vector<double> samples;
  for (int i = 0; i < 10; ++i) samples.push_back(123456.7 + i * 0.37);
  EXPECT_LE(PackReals(samples).size(), 1 + 8 + 9 * 6u);
}

TEST(PackedReals, OtherBytesAreRefused) {
  const std::string packed = PackReals({1.5, 1.25, 1.125});
  EXPECT_FALSE(UnpackReals(packed.substr(0, 5))) << "the first figure is cut off";
  EXPECT_FALSE(UnpackReals("\x09" + packed.substr(1))) << "no figure has nine bytes";
  EXPECT_FALSE(UnpackReals(packed.substr(0, packed.size() - 1))) << "the last figure is cut off";
}

}  // namespace
}  // namespace hone::tuning_db::sqlite
