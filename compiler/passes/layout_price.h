// What kernels and copies cost under a layout signature, in nanoseconds.
#ifndef HONE_COMPILER_PASSES_LAYOUT_PRICE_H_
#define HONE_COMPILER_PASSES_LAYOUT_PRICE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/target.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// From types alone: the greater of arithmetic at the target's peak and bytes at a bandwidth, and
// more where row-major layouts vectorise badly. Ratios of such figures have a meaning.
// `function` is primitive, with types; the signature is one for its parameters that are not const.
double PredictKernelNs(const ir::Expr& function, const std::vector<bool>& const_params,
                       const ir::LayoutSignature& signature, const Target& target);
double PredictCopyNs(const ir::TensorType& type, const Layout& from, const Layout& to,
                     const Target& target);

struct LayoutPrice {
  double predicted_ns = 0;
  std::optional<double> measured_ns;
  double ns = 0;  // what counts
};

// Sets `ns`: what is measured, otherwise what is predicted by the least ratio of measured to
// predicted of the same task's other signatures (but no more than twice that of all), otherwise the
// mean ratio of all tasks, otherwise `ratio`. Returns the ratio of all tasks.
double Calibrate(std::vector<std::vector<LayoutPrice>>& tasks, double ratio);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_PRICE_H_
