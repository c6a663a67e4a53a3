#include "compiler/loop/mean_trips.h"

#include "compiler/loop/parser.h"
#include "compiler/loop/visit.h"
#include "gtest/gtest.h"

namespace hone::loop {
namespace {

// The mean trips of the innermost loop of a launch over 4 shares.
std::optional<double> TripsOf(const std::string& buffer, const std::string& extent) {
  const auto nest = ParseNest("nest @n {\n prepared %x: " + buffer +
                              "\n output %out: float32[9] C\n run @out {\n parallel s in 0..4 {\n"
                              "for i in %x[s]..+" +
                              extent + " { %out[i] = 1.0 } } } }");
  EXPECT_TRUE(nest.ok()) << nest.status();
  return nest.ok() ? MeanTrips(CollectLoops(nest->launches[0].body).back()->extent) : std::nullopt;
}

TEST(MeanTrips, ExtentsBetweenAscendingBoundsFillTheDomain) {
  const std::string ascending = "int64[5] C domain ascending [0, 10]";
  EXPECT_EQ(TripsOf(ascending, "(%x[s + 1] - %x[s])"), 2.5);
  EXPECT_EQ(TripsOf(ascending, "(%x[s + 1] + %x[s])"), std::nullopt);
  EXPECT_EQ(TripsOf(ascending, "(%x[s + 1] - %x[s] + 1)"), std::nullopt);
  EXPECT_EQ(TripsOf(ascending, "(%x[s] - %x[s + 1])"), std::nullopt);
  EXPECT_EQ(TripsOf(ascending, "%x[s]"), std::nullopt);
  EXPECT_EQ(TripsOf("int64[5] C domain [0, 10]", "(%x[s + 1] - %x[s])"), std::nullopt);
}

}  // namespace
}  // namespace hone::loop
