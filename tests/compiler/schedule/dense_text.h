// Workloads of nn.dense.
#ifndef HONE_TESTS_COMPILER_SCHEDULE_DENSE_TEXT_H_
#define HONE_TESTS_COMPILER_SCHEDULE_DENSE_TEXT_H_

#include <cstdint>
#include <string>

#include "fmt/format.h"

namespace hone::schedule {

// The text of a product of m rows, n units and k terms, float32, with a bias and relu behind it or
// alone.
inline std::string DenseText(int64_t m, int64_t n, int64_t k, bool epilogue, bool constant) {
  const std::string params =
      fmt::format("p0: Tensor[({}, {}), float32], {}p1: Tensor[({}, {}), float32]", m, k,
                  constant ? "const " : "", n, k);
  const std::string end = " accumulate=float32 numerics=default";
  if (!epilogue) return fmt::format("fn ({}) {{ nn.dense(p0, p1) }}", params) + end;
  return fmt::format(
             "fn ({}, const p2: Tensor[({},), float32]) {{ %0 = nn.dense(p0, p1); %1 = "
             "nn.bias_add(%0, p2); nn.relu(%1) }}",
             params, n) +
         end;
}

}  // namespace hone::schedule

#endif  // HONE_TESTS_COMPILER_SCHEDULE_DENSE_TEXT_H_
