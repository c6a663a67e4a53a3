// Conv3D, MaxPool3D and AvgPool3D: windows over depth, height and width.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;

const Shape& VolumeFirstAxes() {
  static const auto* const axes = new Shape{0, 4, 1, 2, 3};
  return *axes;
}
const Shape& VolumeLastAxes() {
  static const auto* const axes = new Shape{0, 2, 3, 4, 1};
  return *axes;
}

// Operand 0 as (N, C, D, H, W); what comes of it goes back.
class Volume {
 public:
  explicit Volume(NodeReader& node) : node_(node) {}

  absl::Status Read() {
    HONE_ASSIGN_OR_RETURN(data_, node_.Given(0, "input"));
    HONE_ASSIGN_OR_RETURN(const std::string format, node_.StringAttr("data_format", "NDHWC"));
    if (format != "NDHWC" && format != "NCDHW") {
      return absl::UnimplementedError(
          fmt::format("data_format NDHWC or NCDHW was expected, found {}", format));
    }
    if (RankOf(data_) != 5 || !IsFloat(DtypeOf(data_))) {
      return absl::InvalidArgumentError(
          fmt::format("floats of 5 axes were expected, found {}", data_->type->ToString()));
    }
    channels_last_ = format == "NDHWC";
    if (!channels_last_) return absl::OkStatus();
    const bool turned = ir::IsCall(data_, "transpose") &&
                        ir::GetAttr<Shape>(data_->attrs, "axes", {}) == VolumeLastAxes();
    if (turned) {
      data_ = data_->args[0];
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(data_, node_.layouts().Transposed(data_, VolumeFirstAxes()));
    return absl::OkStatus();
  }

  const ir::Expr& data() const { return data_; }

  absl::StatusOr<ir::Expr> Back(const ir::Expr& e) {
    return channels_last_ ? node_.layouts().Transposed(e, VolumeLastAxes()) : e;
  }

  // The entries for D, H and W of an attribute over five axes.
  absl::StatusOr<Shape> SpatialOf(const std::string& attr, const Shape& fallback) {
    HONE_ASSIGN_OR_RETURN(const Shape all, node_.IntsAttr(attr, fallback));
    const size_t channel = channels_last_ ? 4 : 1;
    const bool fits =
        all.size() == 5 && all[0] == 1 && all[channel] == 1 &&
        std::all_of(all.begin(), all.end(), [](int64_t v) { return v >= 1 && v < kMaxExtent; });
    if (!fits) {
      return absl::InvalidArgumentError(fmt::format(
          "{} of 5 positive numbers, 1 for batch and channels, was expected, found ({})", attr,
          fmt::join(all, ", ")));
    }
    const auto first = all.begin() + (channels_last_ ? 1 : 2);
    return Shape(first, first + 3);
  }

  // SAME has the odd pad after the data.
  absl::StatusOr<ir::Attrs> WindowAttrs(const Shape& taps) {
    HONE_ASSIGN_OR_RETURN(const Shape strides, SpatialOf("strides", {}));
    HONE_ASSIGN_OR_RETURN(const Shape dilation, SpatialOf("dilations", Shape(5, 1)));
    HONE_ASSIGN_OR_RETURN(const std::string padding, node_.StringAttr("padding", ""));
    if (padding != "SAME" && padding != "VALID") {
      return absl::InvalidArgumentError(
          fmt::format("padding was expected to be SAME or VALID, found \"{}\"", padding));
    }
    Shape pads(6, 0);
    for (size_t i = 0; i < 3 && padding == "SAME"; ++i) {
      const int64_t extent = ShapeOf(data_)[2 + i];
      const int64_t positions = (extent + strides[i] - 1) / strides[i];
      const int64_t reach = dilation[i] * (taps[i] - 1) + 1;
      const int64_t total = std::max<int64_t>(0, (positions - 1) * strides[i] + reach - extent);
      pads[i] = total / 2;
      pads[3 + i] = total - pads[i];
    }
    return ir::Attrs{{"strides", strides}, {"dilation", dilation}, {"padding", pads}};
  }

 private:
  NodeReader& node_;
  ir::Expr data_;
  bool channels_last_ = true;
};

Results Conv3D(NodeReader& node) {
  Volume volume(node);
  HONE_RETURN_IF_ERROR(volume.Read());
  HONE_ASSIGN_OR_RETURN(const ir::Expr filter, node.Given(1, "filter"));
  if (RankOf(filter) != 5 || ShapeOf(filter)[3] < 1) {
    return absl::InvalidArgumentError(
        fmt::format("a filter of depth, height, width, inputs and outputs was expected, found {}",
                    filter->type->ToString()));
  }
  const Shape& shape = ShapeOf(filter);
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, volume.WindowAttrs({shape[0], shape[1], shape[2]}));
  attrs["groups"] = ShapeOf(volume.data())[1] / shape[3];
  HONE_ASSIGN_OR_RETURN(const ir::Expr weight, node.layouts().Transposed(filter, {4, 3, 0, 1, 2}));
  HONE_ASSIGN_OR_RETURN(const ir::Expr e,
                        Emit("nn.conv3d", {volume.data(), weight}, std::move(attrs)));
  return One(volume.Back(e));
}

Results Pool3d(NodeReader& node, const std::string& op) {
  Volume volume(node);
  HONE_RETURN_IF_ERROR(volume.Read());
  HONE_ASSIGN_OR_RETURN(const Shape taps, volume.SpatialOf("ksize", {}));
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, volume.WindowAttrs(taps));
  attrs["pool_size"] = taps;
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, Emit(op, {volume.data()}, std::move(attrs)));
  return One(volume.Back(e));
}

}  // namespace

void AddConv3DConverters(ConverterTable& table) {
  table["Conv3D"] = Conv3D;
  table["MaxPool3D"] = [](NodeReader& node) { return Pool3d(node, "nn.max_pool3d"); };
  table["AvgPool3D"] = [](NodeReader& node) { return Pool3d(node, "nn.avg_pool3d"); };
}

}  // namespace hone::frontend::tf
