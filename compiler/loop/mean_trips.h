// How often a loop runs on average whose bounds depend on data.
#ifndef HONE_COMPILER_LOOP_MEAN_TRIPS_H_
#define HONE_COMPILER_LOOP_MEAN_TRIPS_H_

#include <optional>

#include "compiler/loop/expr.h"

namespace hone::loop {

// The mean number of iterations of a loop whose extent is x[i + 1] - x[i], if x is stated to ascend
// through its domain: the width of the domain divided by how many such differences x has. nullopt:
// the extent has another form.
std::optional<double> MeanTrips(const Expr& extent);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_MEAN_TRIPS_H_
