#include "compiler/passes/layout_price.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "compiler/machine/machine.h"
#include "compiler/machine/tensor_cores.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/op.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::TensorType;
using machine::Machine;

// What layouts cost that do not suit a kernel, in bytes a nanosecond.
constexpr double kStridedReadRate = 150;    // by a convolution of row-major data, for each tap
constexpr double kStridedWriteRate = 10;    // by a convolution to a row-major result
constexpr double kPagesApartWriteRate = 1;  // the same, where all channels lie in one cache set
constexpr double kScalarTapNs = 0.5;        // of windows in one channel to a row-major result
constexpr double kRowTapNs = 0.2;    // where data is row-major too, of a vector along the width
constexpr double kStepFactor = 2.5;  // as much where windows stand apart

// On GPUs.
constexpr double kGpuLaunchNs = 1500;  // a launch of a graph, and filling the device
constexpr double kGpuBytesANs = 1500;
constexpr double kGpuFlopsANs = 1e5;  // of tensor cores, in kernels of a few microseconds
constexpr double kTermsApart = 2;     // as long where terms are no neighbours

double Elements(const TensorType& type) { return static_cast<double>(type.ElementCount()); }

// The pixels of a channel.
int64_t PixelsOf(const TensorType& type) {
  return std::accumulate(type.shape.begin() + 2, type.shape.end(), int64_t{1}, std::multiplies<>());
}

double Bytes(const TensorType& type, const Layout& layout) {
  return static_cast<double>(layout.SizeBytes(type.shape, type.dtype));
}

double ThreadsOf(const Machine& machine) {
  return static_cast<double>(std::max<int64_t>(1, machine.Threads()));
}

// The nearest level that holds so many bytes, shared out over all threads.
const machine::MemoryLevel& LevelOf(double bytes, const Machine& machine) {
  const machine::Memory& memory = machine.memory;
  if (bytes <= static_cast<double>(memory.l2.size_bytes) * ThreadsOf(machine)) return memory.l2;
  return bytes <= static_cast<double>(memory.l3.size_bytes) ? memory.l3 : memory.dram;
}

double BytesPerNs(double bytes, const Machine& machine) {
  return LevelOf(bytes, machine).read_bytes_a_cycle * machine.ClockHertz() / 1e9 *
         ThreadsOf(machine);
}

// How fast one thread copies to a layout, in bytes a nanosecond.
double CopyRate(const Layout& to, const Machine& machine) {
  return to.IsRowMajor() ? machine.copy.layouts_unpack_bytes_a_ns
                         : machine.copy.layouts_pack_bytes_a_ns;
}

double CopyNs(double bytes, const Layout& to, const Machine& machine) {
  return bytes / std::min(CopyRate(to, machine) * ThreadsOf(machine), BytesPerNs(bytes, machine));
}

double FlopsPerNs(const Machine& machine) {
  const auto lanes = static_cast<double>(machine.vector.FloatLanes());
  const double flops_a_lane = 2 * machine.issue.multiply_adds_a_cycle;
  return machine.clock_gigahertz * flops_a_lane * lanes * ThreadsOf(machine);
}

// `windows`: of a convolution or a pool. Other anchors take tensors of rank three that have no
// channels.
bool IsBlockable(const TensorType& type, bool windows, const Machine& machine) {
  const size_t rank = type.shape.size();
  return rank >= (windows ? 3 : 4) && rank <= 5 && type.shape[1] >= machine.vector.FloatLanes();
}

// A kernel's tensors with their layouts.
struct Tensor {
  TensorType type;
  Layout layout;
};
struct View {
  std::vector<Tensor> operands;
  std::vector<const ir::ExprNode*> params;  // of the operands
  double const_bytes = 0;
  std::vector<Tensor> results;

  const Tensor* OperandOf(const Expr& param) const {
    const auto it = std::find(params.begin(), params.end(), param.get());
    return it == params.end() ? nullptr : &operands[static_cast<size_t>(it - params.begin())];
  }
};

View ViewOf(const Expr& function, const std::vector<bool>& const_params,
            const ir::LayoutSignature& signature) {
  View view;
  const std::vector<Expr> params = ir::Params(*function);
  for (size_t i = 0; i < params.size(); ++i) {
    const TensorType& type = params[i]->type->tensor;
    if (const_params[i]) {
      view.const_bytes += static_cast<double>(type.SizeBytes());
      continue;
    }
    view.operands.push_back({type, signature.operands[view.operands.size()]});
    view.params.push_back(params[i].get());
  }
  for (const TensorType& type : TensorsOf(*ir::Body(*function)->type)) {
    view.results.push_back({type, signature.results[view.results.size()]});
  }
  return view;
}

// The operator that decides how the kernel is scheduled: its first complex one.
const ir::ExprNode* AnchorOf(const Expr& function) {
  for (const Expr& node : ir::PostOrder(ir::Body(*function))) {
    if (node->kind != ExprKind::kCall || node->callee) continue;
    const ops::Op* op = ops::FindOp(node->name);
    if (op != nullptr && op->kind == ops::FuseKind::kComplex) return node.get();
  }
  return nullptr;
}

// The operand that the anchor's data comes from; null where that is a constant.
const Tensor* DataOf(const View& view, const ir::ExprNode& anchor) {
  Expr data = anchor.args[0];
  while (data->kind == ExprKind::kCall && !data->args.empty()) data = data->args[0];
  return view.OperandOf(data);
}

bool IsConv(const ir::ExprNode& anchor) {
  return anchor.name.find("conv") != std::string::npos && anchor.args.size() >= 2;
}

bool IsTransposed(const ir::ExprNode& anchor) {
  return anchor.name.find("transpose") != std::string::npos;
}

double FlopsOf(const ir::ExprNode& anchor) {
  const TensorType& weight = anchor.args[1]->type->tensor;
  const double result = Elements(TensorsOf(*anchor.type)[0]);
  if (IsConv(anchor) && !weight.shape.empty() && weight.shape[0] > 0) {
    // In a transposed convolution, an element of the data meets all taps of its row of the weights.
    const double met = IsTransposed(anchor) ? Elements(anchor.args[0]->type->tensor) : result;
    return 2 * met * Elements(weight) / static_cast<double>(weight.shape[0]);
  }
  // M K by K N to M N.
  return 2 * std::sqrt(Elements(anchor.args[0]->type->tensor) * Elements(weight) * result);
}

bool IsDepthwise(const ir::ExprNode& anchor) {
  const TensorType& weight = anchor.args[1]->type->tensor;
  return weight.shape.size() == 4 && weight.shape[1] == 1 && weight.shape[0] > 1;
}

// Elements that one of the result is made of, of one channel.
double TapsOf(const ir::ExprNode& anchor, const Tensor& data, const Tensor& result) {
  double taps = 1;
  if (anchor.args.size() >= 2) {
    const std::vector<int64_t>& shape = anchor.args[1]->type->tensor.shape;
    for (size_t i = 2; i < shape.size(); ++i) taps *= static_cast<double>(shape[i]);
    return taps;
  }
  std::vector<int64_t> window = ops::IntsAttr(anchor.attrs, "pool_size");
  if (window.empty()) return Elements(data.type) / std::max(1.0, Elements(result.type));
  if (window.size() == 1) window.assign(data.type.shape.size() - 2, window[0]);
  for (int64_t extent : window) taps *= static_cast<double>(extent);
  return taps;
}

// Windows in one channel over rows: vectors along the width, the last of each row not full.
double RowWindowNs(const TensorType& data, const TensorType& result, double taps,
                   const Machine& machine) {
  const auto width = static_cast<uint64_t>(result.shape.back());
  const auto fit = static_cast<int64_t>(std::bit_floor(width));
  const int64_t lanes = std::max<int64_t>(std::min<int64_t>(machine.vector.FloatLanes(), fit), 1);
  const int64_t vectors = (result.shape.back() + lanes - 1) / lanes;
  return Elements(result) / static_cast<double>(width) * static_cast<double>(vectors) * taps *
         kRowTapNs * (data.shape.back() > result.shape.back() * 3 / 2 ? kStepFactor : 1);
}

// Whether the target multiplies such data in tile registers, and its blocks, of channels that would
// fill the rows of these, do not: a convolution of one tap brings them into wider ones first.
// With more taps a copy with padding does it.
bool IsNarrowForTiles(const Tensor& data, double taps, const Machine& machine) {
  const int64_t wide = machine::kAmxTile.row_bytes / SizeBytes(data.type.dtype);
  return machine.matrix.Takes(data.type.dtype) && taps == 1 && data.type.shape[1] >= wide &&
         data.layout.BlockOf(1) < wide;
}

bool IsAll(const std::vector<int64_t>& values, int64_t value) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
}

// Whether what joins a result elementwise goes along all of its spatial axes or along none.
bool GoesWithPixels(const TensorType& operand, const TensorType& result) {
  const size_t rank = result.shape.size();
  if (operand.shape.size() != rank) {
    return IsAll(operand.shape, 1) ||
           (operand.shape.size() == 1 && operand.shape[0] == result.shape[1]);
  }
  return std::equal(operand.shape.begin() + 2, operand.shape.end(), result.shape.begin() + 2) ||
         IsAll({operand.shape.begin() + 2, operand.shape.end()}, 1);
}

// Whether it is a convolution, maybe transposed, of float32 and constant weights, without groups.
bool IsPlainFloatConv(const View& view, const ir::ExprNode& anchor, const Tensor& data) {
  if (!IsConv(anchor)) return false;
  const TensorType& weight = anchor.args[1]->type->tensor;
  const TensorType& result = anchor.type->tensor;
  const int64_t in = weight.shape[IsTransposed(anchor) ? 0 : 1];
  const int64_t out = weight.shape[IsTransposed(anchor) ? 1 : 0];
  return data.type.dtype == DataType::kFloat32 && weight.dtype == DataType::kFloat32 &&
         result.dtype == DataType::kFloat32 && in == data.type.shape[1] && out == result.shape[1] &&
         view.OperandOf(anchor.args[1]) == nullptr;
}

// Whether vectors of neighbours along the width waste clearly fewer lanes than those of its few
// output channels (schedule/conv/rows.h): row-major data is read where it lies, other data is
// copied. Neighbours of a transposed one are a stride apart.
bool IsConvOfRows(const View& view, const ir::ExprNode& anchor, const Tensor& data,
                  const Machine& machine) {
  if (!IsPlainFloatConv(view, anchor, data)) return false;
  const std::vector<int64_t> strides = ops::IntsAttr(anchor.attrs, "strides");
  const int64_t stride = strides.empty() ? 1 : strides.back();
  if (stride != 1 && !IsTransposed(anchor)) return false;
  const std::vector<int64_t>& result = anchor.type->tensor.shape;
  const int64_t width = (result.back() + stride - 1) / stride;
  const int64_t vectors = (width + machine.vector.FloatLanes() - 1) / machine.vector.FloatLanes();
  return result[1] < machine.vector.FloatLanes() && 4 * vectors * result[1] <= 3 * width;
}

// Whether a convolution between row-major tensors is a product of matrices whose columns are whole
// vectors of pixels, so that nothing has to be turned (schedule/conv/pixels.h).
bool IsProductOfPixels(const View& view, const ir::ExprNode& anchor, const Tensor& data,
                       double taps, const Machine& machine) {
  if (taps != 1 || IsTransposed(anchor) || !IsPlainFloatConv(view, anchor, data)) return false;
  const TensorType& result = anchor.type->tensor;
  const bool is_plain = IsAll(ops::IntsAttr(anchor.attrs, "strides"), 1) &&
                        IsAll(ops::IntsAttr(anchor.attrs, "padding"), 0);
  return is_plain && PixelsOf(result) % machine.vector.FloatLanes() == 0 &&
         std::all_of(view.operands.begin(), view.operands.end(), [&](const Tensor& operand) {
           return &operand == &data || GoesWithPixels(operand.type, result);
         });
}

// Whether lanes are neighbours in what is resampled and in what comes of it, both row-major: else
// each gathers for itself.
bool ResamplesRows(const ir::ExprNode& anchor) {
  if (anchor.name != "resample") return false;
  const size_t rank = anchor.type->tensor.shape.size();
  const int64_t axis = ops::AxisFromFront(ops::IntAttr(anchor.attrs, "axis", -1), rank);
  return axis + 1 != static_cast<int64_t>(rank);
}

// To a row-major result by lanes that are channels. Where these are whole pages apart (64x64,
// 224x224), all rows that a tile writes fall on one set of the first cache, which holds fewer: a
// direct convolution was seen to write 5 bytes a nanosecond, Winograd's 0.2 to 0.7.
double StridedWriteRate(const TensorType& result) {
  const int64_t channel_bytes = PixelsOf(result) * SizeBytes(result.dtype);
  return channel_bytes % machine::kPageBytes == 0 ? kPagesApartWriteRate : kStridedWriteRate;
}

// Nanoseconds of one thread that layouts cost which do not suit the kernel.
double StrainOfAnchor(const View& view, const ir::ExprNode& anchor, const Machine& machine) {
  const Tensor* data = DataOf(view, anchor);
  if (data == nullptr) return 0;
  const Tensor& result = view.results[0];
  const double taps = TapsOf(anchor, *data, result);
  const bool windows = anchor.name.find("conv") != std::string::npos ||
                       anchor.name.find("pool") != std::string::npos;
  const bool strided_data = data->layout.IsRowMajor() && IsBlockable(data->type, windows, machine);
  const bool strided_result =
      result.layout.IsRowMajor() && IsBlockable(result.type, windows, machine);
  const bool in_channel = windows && (anchor.args.size() < 2 || IsDepthwise(anchor));
  const bool is_row = anchor.name.starts_with("nn.global_");  // of columns in order
  if ((is_row || ResamplesRows(anchor)) && data->layout.IsRowMajor() &&
      result.layout.IsRowMajor()) {
    return 0;
  }
  if (in_channel && strided_data && strided_result && result.type.shape.size() == 4 &&
      result.type.dtype == DataType::kFloat32 &&
      2 * result.type.shape.back() >= machine.vector.FloatLanes()) {
    return RowWindowNs(data->type, result.type, taps, machine);
  }
  if (strided_data && strided_result && IsProductOfPixels(view, anchor, *data, taps, machine)) {
    return 0;
  }
  if (IsConvOfRows(view, anchor, *data, machine)) {
    return data->layout.IsRowMajor()
               ? 0
               : Bytes(data->type, data->layout) / machine.copy.layouts_unpack_bytes_a_ns;
  }
  double ns = 0;
  if (strided_data) ns += Bytes(data->type, data->layout) * taps / kStridedReadRate;
  const bool weighs = windows && anchor.args.size() >= 2 && !IsDepthwise(anchor);
  if (weighs && !strided_data && IsNarrowForTiles(*data, taps, machine)) {
    ns += 2 * Bytes(data->type, data->layout) / machine.copy.layouts_pack_bytes_a_ns;
  }
  if (!strided_result) return ns;
  if (anchor.args.size() < 2 || IsDepthwise(anchor)) {
    return ns + kScalarTapNs * taps * Elements(result.type);
  }
  return ns + Bytes(result.type, result.layout) / StridedWriteRate(result.type);
}

double StrainOfFollower(const View& view, const Machine& machine) {
  double ns = 0;
  const Tensor& result = view.results[0];
  for (const Tensor& operand : view.operands) {
    const bool same_rank = operand.type.shape.size() == result.type.shape.size();
    if (!same_rank || operand.layout == result.layout) continue;
    ns += Bytes(operand.type, operand.layout) / CopyRate(result.layout, machine);
  }
  return ns;
}

// Whether it is a convolution of 16-bit images that tensor cores compute: they sum over channels.
bool SumsOverChannels(const ir::ExprNode& anchor) {
  if (!IsConv(anchor) || IsTransposed(anchor) || anchor.args[1]->type->is_tuple) return false;
  const TensorType& data = anchor.args[0]->type->tensor;
  const std::vector<int64_t>& weight = anchor.args[1]->type->tensor.shape;
  return data.shape.size() == 4 && SizeBytes(data.dtype) == 2 && IsFloat(data.dtype) &&
         weight.size() == 4 && weight[1] == data.shape[1] &&
         weight[1] % machine::kWarpProduct.terms == 0;
}

// On a GPU. Where neighbouring terms of a convolution are not neighbours in memory, threads copy
// elements one by one, and wait for them. The rates are rough ones of current GPUs, and serve to
// compare layouts.
double PredictNsOfGrid(const View& view, const ir::ExprNode* anchor, double bytes) {
  double ns = kGpuLaunchNs + bytes / kGpuBytesANs;
  if (anchor == nullptr || anchor->args.size() < 2 || !SumsOverChannels(*anchor)) return ns;
  const Tensor* const data = DataOf(view, *anchor);
  const bool is_apart = data != nullptr && data->layout.IsRowMajor();
  return ns + FlopsOf(*anchor) / kGpuFlopsANs * (is_apart ? kTermsApart : 1);
}

}  // namespace

double PredictKernelNs(const ir::Expr& function, const std::vector<bool>& const_params,
                       const ir::LayoutSignature& signature, const Target& target) {
  const Machine machine = Machine::For(target);
  const View view = ViewOf(function, const_params, signature);
  double bytes = view.const_bytes;
  for (const Tensor& tensor : view.operands) bytes += Bytes(tensor.type, tensor.layout);
  for (const Tensor& tensor : view.results) bytes += Bytes(tensor.type, tensor.layout);
  if (view.results.empty()) return machine.launch.layouts_ns;
  const ir::ExprNode* anchor = AnchorOf(function);
  if (machine.HasGrid()) return PredictNsOfGrid(view, anchor, bytes);
  const bool has_anchor = anchor != nullptr && !anchor->args.empty();
  const double strain =
      has_anchor ? StrainOfAnchor(view, *anchor, machine) : StrainOfFollower(view, machine);
  double work_ns = bytes / BytesPerNs(bytes, machine);
  if (has_anchor && anchor->args.size() >= 2 && !anchor->args[1]->type->is_tuple) {
    work_ns = std::max(work_ns, FlopsOf(*anchor) / FlopsPerNs(machine));
  }
  return machine.launch.layouts_ns + work_ns + strain / ThreadsOf(machine);
}

double PredictCopyNs(const ir::TensorType& type, const Layout& from, const Layout& to,
                     const Target& target) {
  const Machine machine = Machine::For(target);
  if (machine.HasGrid()) return kGpuLaunchNs + (Bytes(type, from) + Bytes(type, to)) / kGpuBytesANs;
  return machine.launch.layouts_ns + CopyNs(Bytes(type, from) + Bytes(type, to), to, machine);
}

double Calibrate(std::vector<std::vector<LayoutPrice>>& tasks, double ratio) {
  // A signature that its template schedules badly says little of the task's others: the best one
  // speaks for the task, and no task is taken for much slower than all are.
  constexpr double kMostAboveAll = 2;
  double sum = 0;  // of logarithms: one twice too slow and one twice too fast balance
  int count = 0;
  std::vector<double> least(tasks.size(), std::numeric_limits<double>::infinity());
  for (size_t t = 0; t < tasks.size(); ++t) {
    for (const LayoutPrice& price : tasks[t]) {
      if (!price.measured_ns || *price.measured_ns <= 0) continue;
      const double measured = *price.measured_ns / price.predicted_ns;
      least[t] = std::min(least[t], measured);
      sum += std::log(measured);
      ++count;
    }
  }
  const double overall = count > 0 ? std::exp(sum / count) : ratio;
  for (size_t t = 0; t < tasks.size(); ++t) {
    const double scale =
        std::isfinite(least[t]) ? std::min(least[t], kMostAboveAll * overall) : overall;
    for (LayoutPrice& price : tasks[t]) {
      price.ns = price.measured_ns.value_or(price.predicted_ns * scale);
    }
  }
  return overall;
}

}  // namespace hone::passes
