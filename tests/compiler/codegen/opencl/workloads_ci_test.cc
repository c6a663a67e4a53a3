// Kernels of every class of operators compute in OpenCL C what the interpreter does.
#include <gtest/gtest.h>

#include <string>

#include "support/random.h"
#include "tests/compiler/codegen/opencl/run_kernels.h"
#include "tests/compiler/codegen/opencl/same_results.h"
#include "tests/compiler/codegen/opencl/workload_check.h"

namespace hone::codegen {
namespace {

// Operators that no family has.
const char* const kOperators[] = {
    "fn (p0: Tensor[(3, 37), float32]) { topk(p0, k=5, axis=1) }",
    "fn (p0: Tensor[(9, 2), int32]) { topk(p0, k=9, axis=0, largest=false) }",
    "fn (p0: Tensor[(3, 5, 37), float32]) { cumsum(p0, axis=0, exclusive=true, reverse=true) }",
    "fn (p0: Tensor[(4, 20), int8]) { cumsum(p0, axis=1) }",
    "fn (p0: Tensor[(3, 9, 4), float32]) { argmax(p0, axis=1) }",
    "fn (p0: Tensor[(3, 9), uint8]) { argmin(p0, axis=1, select_last_index=true) }",
    "fn (p0: Tensor[(1, 9, 5, 5), float32]) { nn.lrn(p0, alpha=0.01, axis=1, beta=0.75, bias=1.5, "
    "size=5) }",
    "fn (p0: Tensor[(30,), int64], const p1: Tensor[(2,), float32]) { one_hot(p0, p1, depth=17) }",
    "fn (p0: Tensor[(2, 3, 4), float16]) { tile(p0, reps=[2, 1, 3]) }",
    "fn (p0: Tensor[(2, 1, 4), bfloat16]) { broadcast_to(p0, shape=[2, 3, 4]) }",
    "fn (p0: Tensor[(2, 5, 20), float32]) { trilu(p0, k=-1, upper=false) }",
    "fn (p0: Tensor[(5, 4, 17), float32], p1: Tensor[(4,), int64]) { reverse_sequence(p0, p1, "
    "batch_axis=1, seq_axis=0) }",
    "fn (p0: Tensor[(3, 40), float32], p1: Tensor[(3, 20), int64]) { gather_elements(p0, p1, "
    "axis=1) }",
    "fn (p0: Tensor[(2, 3, 20), float32], p1: Tensor[(2, 5, 1), int64]) { gather_nd(p0, p1, "
    "batch_dims=1) }",
    "fn (p0: Tensor[(6, 5), float32], p1: Tensor[(3, 5), int64], p2: Tensor[(3, 5), float32]) { "
    "scatter_elements(p0, p1, p2, axis=0, reduction=\"add\") }",
    "fn (p0: Tensor[(6, 5), int32], p1: Tensor[(4, 1), int32], p2: Tensor[(4, 5), int32]) { "
    "scatter_nd(p0, p1, p2, reduction=\"max\") }",
    "fn (p0: Tensor[(1, 18, 9), float32]) { col2im(p0, image_shape=[5, 5], block_shape=[3, 3]) }",
    "fn (p0: Tensor[(1, 4, 9, 9), float32]) { nn.max_pool2d_indices(p0, pool_size=[3, 3], "
    "strides=[2, 2]) }",
    "fn (p0: Tensor[(1, 4, 9, 9), float32]) { nn.lp_pool2d(p0, pool_size=[3, 3], p=3) }",
    "fn (p0: Tensor[(2, 4, 4), float32]) { linalg.det(p0) }",
    "fn (p0: Tensor[(2, 3, 4), float32], p1: Tensor[(4, 5), float32]) { einsum(p0, p1, "
    "equation=\"bij,jk->bik\") }",
    "fn (p0: Tensor[(2, 3, 6, 7), float32], p1: Tensor[(2, 4, 5, 2), float32]) { "
    "nn.grid_sample(p0, p1, method=\"cubic\", padding_mode=\"reflection\") }",
    "fn (p0: Tensor[(2, 3, 9, 9), float32], p1: Tensor[(4, 4), float32], p2: Tensor[(4,), int64]) "
    "{ "
    "nn.roi_align(p0, p1, p2, pooled_size=[2, 3], sampling_ratio=2) }",
    "fn (p0: Tensor[(2, 9, 4), float32], p1: Tensor[(6, 3), int64], p2: Tensor[(6, 3), float32]) { "
    "resample(p0, p1, p2, axis=1) }",
    "fn (p0: Tensor[(3, 4, 5), float32], p1: Tensor[(4, 1), float32], p2: Tensor[(4, 1), float32]) "
    "{ "
    "multiply_add(p0, p1, p2) }",
    "fn (p0: Tensor[(3, 17), float16]) { nn.softmax(p0) }",
    "fn (p0: Tensor[(3, 17), bfloat16]) { nn.log_softmax(p0) }",
    "fn (p0: Tensor[(3, 17), float64], p1: Tensor[(17,), float64]) { %0 = power(p0, p1); exp(%0) }",
    "fn (p0: Tensor[(3, 17), int32], p1: Tensor[(17,), int32]) { %0 = floor_mod(p0, p1); "
    "left_shift(%0, p1) }",
    "fn (p0: Tensor[(3, 17), bool], p1: Tensor[(17,), bool]) { %0 = logical_xor(p0, p1); "
    "cast(%0, dtype=\"int64\") }",
};

TEST(OpenClOperatorWorkloads, AreAsInterpreted) {
  HONE_SKIP_WITHOUT_OPENCL();
  Random random(11);
  for (const char* const text : kOperators) {
    CheckOpenClWorkload(std::string(text) + " accumulate=float32 numerics=default", 1, random);
  }
}

}  // namespace
}  // namespace hone::codegen
