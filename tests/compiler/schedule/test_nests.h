// Small naive nests that the tests of primitives start from.
#ifndef HONE_TESTS_COMPILER_SCHEDULE_TEST_NESTS_H_
#define HONE_TESTS_COMPILER_SCHEDULE_TEST_NESTS_H_

#include "compiler/loop/stmt.h"

namespace hone::schedule {

// sum[i, j] = sum over k of a[i, k] * b[j, k]; out = max(sum + bias[j], 0).
loop::Nest MatmulNest(int64_t m, int64_t n, int64_t k);
// pad (1 around), a 3x3 convolution "conv" of stride 1, then "relu".
loop::Nest ConvNest(int64_t channels, int64_t size, int64_t outputs);
// A 1x1 convolution "conv", then "out", which adds a bias.
loop::Nest OneTapNest(int64_t channels, int64_t rows, int64_t columns, int64_t outputs);
// twice[i, j] = x + x; out[i, j] = twice[j, i] * 3.
loop::Nest TransposeNest(int64_t rows, int64_t columns);

}  // namespace hone::schedule

#endif  // HONE_TESTS_COMPILER_SCHEDULE_TEST_NESTS_H_
