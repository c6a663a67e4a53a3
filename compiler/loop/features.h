// Features of a nest for the cost model: one extractor, one fixed-length vector a nest, taken from
// the compact form (loops that are vectorised or unrolled by annotation are loops here).
#ifndef HONE_COMPILER_LOOP_FEATURES_H_
#define HONE_COMPILER_LOOP_FEATURES_H_

#include <string>
#include <vector>

#include "compiler/ir/cpu_target.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

struct NestFeatures {
  // As FeatureNames() has it. Counts, bytes and ratios are log2(1 + x) and log2 scaled; finite.
  std::vector<float> values;
  // A roofline estimate of one execution of the run launches, in seconds. The cost model learns the
  // residual to it. Only ratios between candidates of one task have a meaning.
  double analytic_seconds = 0;
};

// Deterministic. Takes tens to hundreds of microseconds. Names do not influence the features.
NestFeatures ExtractFeatures(const Nest& nest, const CpuTarget& target);

// What each value is, in order; the same for every nest and target. docs/features.md explains them.
const std::vector<std::string>& FeatureNames();

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_FEATURES_H_
