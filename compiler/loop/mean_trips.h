// How often a loop runs whose bounds depend on data, on average.
#ifndef HONE_COMPILER_LOOP_MEAN_TRIPS_H_
#define HONE_COMPILER_LOOP_MEAN_TRIPS_H_

#include <optional>

#include "compiler/loop/expr.h"

namespace hone::loop {

// The mean trips of a loop whose extent is x[i + 1] - x[i], where x is stated to ascend through its
// domain: all these extents together are as much as the domain is wide. nullopt: nothing is known.
std::optional<double> MeanTrips(const Expr& extent);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_MEAN_TRIPS_H_
