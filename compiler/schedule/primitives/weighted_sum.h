// Sums of values times weights: the form of the stages that primitives such as Winograd replace.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_WEIGHTED_SUM_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_WEIGHTED_SUM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// result[axes] = 0, then in loops over sums: result[axes] += factor * weight[weight_at].
struct WeightedSum {
  loop::Buffer result, weight;
  size_t launch = 0;                  // of the stage
  std::vector<loop::Expr> axes;       // variables, by dimension
  std::vector<loop::Expr> sums;       // over all axes of the weight but the first, from 0
  loop::Expr factor;                  // of the float type of the result and the weight
  std::vector<loop::Expr> weight_at;  // an index for each axis; the first is axes[1]
};

// The sum of the stage that fills workspace `buffer`; kFailedPrecondition where that has another
// form.
absl::StatusOr<WeightedSum> MatchWeightedSum(const loop::Nest& nest, const std::string& buffer);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_WEIGHTED_SUM_H_
