// Kernels of operators that read or write where other tensors say, or search, or run loops of their
// own: each has a schedule that computes what its naive nest does.
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

const char* const kIndirectKernels[] = {
    "fn (p0: Tensor[(2, 3, 4), float32]) { tile(p0, reps=[2, 1, 3]) }",
    "fn (p0: Tensor[(3, 1), float32]) { broadcast_to(p0, shape=[2, 3, 17]) }",
    "fn (p0: Tensor[(2, 5, 20), float32]) { trilu(p0, k=-1, upper=false) }",
    "fn (p0: Tensor[(3, 4), int64], p1: Tensor[(2,), float32]) { one_hot(p0, p1, depth=5, axis=1) "
    "}",
    "fn (p0: Tensor[(5, 4, 17), float32], p1: Tensor[(4,), int64]) { reverse_sequence(p0, p1, "
    "seq_axis=0, batch_axis=1) }",
    "fn (p0: Tensor[(3, 40), float32], p1: Tensor[(3, 20), int64]) { gather_elements(p0, p1, "
    "axis=1) }",
    "fn (p0: Tensor[(2, 3, 20), float32], p1: Tensor[(2, 5, 1), int64]) { gather_nd(p0, p1, "
    "batch_dims=1) }",
    "fn (p0: Tensor[(4, 20), float32], p1: Tensor[(3, 20), int64], p2: Tensor[(3, 20), float32]) { "
    "scatter_elements(p0, p1, p2, axis=0, reduction=\"add\") }",
    "fn (p0: Tensor[(6, 20), float32], p1: Tensor[(4, 1), int64], p2: Tensor[(4, 20), float32]) { "
    "scatter_nd(p0, p1, p2) }",
    "fn (p0: Tensor[(3, 37), float32]) { topk(p0, k=5, axis=1) }",
    "fn (p0: Tensor[(3, 37), float32]) { topk(p0, k=20, axis=1) }",
    "fn (p0: Tensor[(2, 9, 4), float32], p1: Tensor[(2, 3, 9), float32], p2: Tensor[(2, 3, 9), "
    "int64]) { nn.keep_boxes(p0, p1, p2, most=4, iou_threshold=0.25) }",
    "fn (p0: Tensor[(9, 2), int32]) { topk(p0, k=9, axis=0, largest=false) }",
    "fn (p0: Tensor[(1, 3, 8, 20), float32], const p1: Tensor[(11, 2), int64], const p2: "
    "Tensor[(11, 2), float32]) { %0 = resample(p0, p1, p2, axis=2); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 16, 5, 9), float32], const p1: Tensor[(19, 3), int64], const p2: "
    "Tensor[(19, 3), float32]) { resample(p0, p1, p2, axis=3) }",
    "fn (p0: Tensor[(1, 18, 5, 3), float32], p1: Tensor[(7, 2), int64], p2: Tensor[(7, 2), "
    "float32]) { resample(p0, p1, p2, axis=1) }",
    "fn (p0: Tensor[(2, 3, 5, 6), float32], p1: Tensor[(2, 4, 3, 2), float32]) { "
    "nn.grid_sample(p0, p1, method=\"nearest\", padding_mode=\"reflection\") }",
    "fn (p0: Tensor[(2, 3, 5, 6), float32], p1: Tensor[(3, 4), float32], p2: Tensor[(3,), int64]) "
    "{ nn.roi_align(p0, p1, p2, pooled_size=[2, 2], sampling_ratio=2, mode=\"max\") }",
    "fn (p0: Tensor[(1, 18, 9), float32]) { col2im(p0, image_shape=[7, 7], block_shape=[3, 3], "
    "strides=[2, 2]) }",
    "fn (p0: Tensor[(1, 6, 5, 5), float32], const p1: Tensor[(6, 4, 3, 3), float32]) { "
    "%0 = nn.conv2d_transpose(p0, p1, dilation=[2, 2], strides=[2, 2], padding=[1, 1, 1, 1], "
    "output_padding=[1, 1], groups=2); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 6, 9), float32], const p1: Tensor[(6, 4, 3), float32]) { "
    "nn.conv1d_transpose(p0, p1, dilation=[2], strides=[2]) }",
    "fn (p0: Tensor[(1, 4, 9, 9), float32]) { nn.max_pool2d_indices(p0, pool_size=[3, 3], "
    "strides=[2, 2], padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 4, 9, 9), float32]) { nn.lp_pool2d(p0, pool_size=[3, 3], p=1) }",
    "fn (p0: Tensor[(2, 5, 20), float32]) { nn.pad(p0, pad_width=[0, 0, 7, 6, 3, 0], "
    "pad_mode=\"reflect\") }",
    "fn (p0: Tensor[(2, 5, 20), float32]) { nn.pad(p0, pad_width=[0, 0, 7, 6, 3, 0], "
    "pad_mode=\"wrap\") }",
    "fn (p0: Tensor[(40,), float64], p1: Tensor[(40,), int64], p2: Tensor[(10,), int64], p3: "
    "Tensor[(12, 35), float64]) { nn.sparse_dense(p0, p1, p2, p3) }",
    "fn (const p0: Tensor[(40,), float32], const p1: Tensor[(40,), int32], const p2: Tensor[(10,), "
    "int32], p3: Tensor[(12, 1), float32]) { nn.sparse_dense(p0, p1, p2, p3) }",
};

TEST(GenericIndirect, EveryConfigComputesWhatTheNaiveNestDoes) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  int checked = 0;
  uint64_t seed = 1;
  for (const char* kernel : kIndirectKernels) {
    for (const CpuTarget& target : {wide, narrow}) {
      SCOPED_TRACE(kernel);
      checked += CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default",
                               "generic", target, 4, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 60);
}

}  // namespace
}  // namespace hone::schedule
