// Prices kernels and copies under a layout signature, in nanoseconds.
#ifndef HONE_COMPILER_PASSES_LAYOUT_PRICE_H_
#define HONE_COMPILER_PASSES_LAYOUT_PRICE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/target.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// A prediction from types alone: the larger of the time for arithmetic at the target's peak and the
// time for bytes at a bandwidth, plus a penalty where row-major layouts vectorise badly. Only
// ratios of such figures are meaningful. `function` is primitive and typed; the signature covers
// the parameters that are not const.
double PredictKernelNs(const ir::Expr& function, const std::vector<bool>& const_params,
                       const ir::LayoutSignature& signature, const Target& target);
double PredictCopyNs(const ir::TensorType& type, const Layout& from, const Layout& to,
                     const Target& target);

struct LayoutPrice {
  double predicted_ns = 0;
  std::optional<double> measured_ns;
  double ns = 0;  // the price that is used
};

// Sets `ns` to the measured time if there is one, otherwise to the predicted time times a ratio of
// measured to predicted times. The ratio is the least one of the same task's measured signatures,
// but at most twice the mean ratio of all tasks; for a task without measurements it is that mean;
// and without any measurement it is `ratio`. Returns the mean ratio of all tasks (`ratio` without
// measurements). `tasks` has the prices of each task's signatures.
double Calibrate(std::vector<std::vector<LayoutPrice>>& tasks, double ratio);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_PRICE_H_
