// Sums of values times a weight: the stages that primitives which filter take the place of.
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
  size_t launch = 0;             // of the stage
  std::vector<loop::Expr> axes;  // variables, by dimension
  std::vector<loop::Expr> sums;  // those of the loops, from 0 over all but the weight's first axis
  loop::Expr factor;             // float as the result and the weight are
  std::vector<loop::Expr> weight_at;  // as many as axes; the second of these is the first index
};

// The sum of the stage that fills workspace `buffer`; kFailedPrecondition where that has another
// form.
absl::StatusOr<WeightedSum> MatchWeightedSum(const loop::Nest& nest, const std::string& buffer);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_WEIGHTED_SUM_H_
