// What templates see of a kernel: one anchor, what feeds it and what follows it.
#ifndef HONE_COMPILER_SCHEDULE_KERNEL_KERNEL_VIEW_H_
#define HONE_COMPILER_SCHEDULE_KERNEL_KERNEL_VIEW_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ops/lower.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/space.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// A kernel of one reduction: stages that are single stores, the reduction, single stores again, one
// output of the reduction's shape. Names are those of the naive nest's buffers.
struct AnchorView {
  const ops::OpStage* op = nullptr;
  std::string anchor;                 // the buffer the reduction fills
  std::vector<std::string> prologue;  // stages that it reads, directly or not, in order
  std::vector<std::string> epilogue;  // all others but the output's, in order
  std::string output;
  std::vector<int64_t> shape;  // of the output
  bool anchor_is_output = false;
};

// nullopt unless the only operator of kReduction or above is one of `anchors` and the kernel has
// the form above with elementwise and broadcast operators after the anchor.
std::optional<AnchorView> ViewAnchor(const ops::KernelDefinition& def,
                                     std::initializer_list<std::string_view> anchors);

// The buffer that a launch fills, if the launch is loops around stores, and whether it is a
// reduction. The buffer is empty for other launches.
struct StageForm {
  std::string buffer;
  bool reduction = false;
};
StageForm FormOf(const loop::Launch& launch);

// nullptr where there is none.
loop::Buffer BufferOf(const loop::Nest& nest, std::string_view name);
std::vector<loop::Buffer> InputsOf(const loop::Nest& nest);
std::vector<loop::Buffer> OutputsOf(const loop::Nest& nest);

ir::LayoutSignature RowMajorSignature(const ops::KernelDefinition& def);
// Whether the layouts of all operands and results are row-major; those of scalars are.
bool AllRowMajor(const ir::LayoutSignature& signature);
// InnermostDim is the dimension of the layout along which neighbours in memory lie: the last one
// that has several elements, or the last one if none has. InnermostAxis is the axis of that
// dimension. The buffer must have at least one axis.
size_t InnermostDim(const Layout& layout, const std::vector<int64_t>& shape);
size_t InnermostAxis(const Layout& layout, const std::vector<int64_t>& shape);
// kInvalidArgument unless the signature has a layout of the right rank for each operand and result.
absl::Status CheckSignature(const Task& task);

// What a product of matrices or a convolution multiplies and sums.
enum class ProductKind {
  kFloat,     // float32 throughout
  kBytes,     // 8-bit integers, summed in int32: dot products of four
  kBFloat16,  // summed in float32: dot products of two
  kOther
};
ProductKind KindOfProduct(const loop::Buffer& data, const loop::Buffer& weight,
                          const loop::Buffer& sums);
// How many terms of a sum a dot product takes at once; 1: there is no dot product.
int64_t DotSteps(ProductKind kind);

// A knob of integers.
Knob IntKnob(std::string name, const std::vector<int64_t>& options,
             std::optional<int64_t> legacy = std::nullopt);
Knob TextKnob(std::string name, const std::vector<std::string>& options,
              std::optional<std::string> legacy = std::nullopt);

// Row-major with blocks of `size` along an axis: NCHW16c for rank 4, axis 1, size 16.
Layout BlockedLayout(int rank, int axis, int64_t size);
// The same for blocks of channels, which are the second axis.
Layout BlockedChannels(int rank, int64_t lanes);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_KERNEL_KERNEL_VIEW_H_
