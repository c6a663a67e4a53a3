// Reductions, norms and what else goes by rows.
#include <fmt/format.h>

#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {
namespace {

// Rows are longer than other extents.
Shape Rows(Draw& draw, int rank) {
  Shape shape = draw.Extents(rank - 1, rank > 2 ? 17 : 67);
  shape.push_back(draw.Once(3) ? draw.Extent() * (1 + draw.Below(8)) : draw.Extent());
  return shape;
}

void Softmax(Draw& draw) {
  const int rank = 1 + static_cast<int>(draw.Below(4));
  const Shape shape = Rows(draw, rank);
  std::string data = draw.Param(shape);
  if (draw.Once(3)) {
    data = draw.Let(fmt::format("multiply({}, 0.5f32)", data));
    Shape mask(shape.size(), 1);
    mask.back() = shape.back();
    data = draw.Let(fmt::format("add({}, {})", data, draw.Param(mask)));
  }
  const int64_t axis = draw.Once(4) ? draw.Below(rank) : rank - 1;
  draw.Let(fmt::format("{}({}, axis={})", draw.Of({"nn.softmax", "nn.log_softmax"}), data, axis));
}

void LayerNorm(Draw& draw) {
  const Shape shape = Rows(draw, 2 + static_cast<int>(draw.Below(2)));
  std::string data = draw.Param(shape);
  if (draw.Once(3)) data = draw.Let(fmt::format("add({}, {})", data, draw.Param(shape)));
  const std::string gamma = draw.Const({shape.back()}), beta = draw.Const({shape.back()});
  draw.Let(
      fmt::format("nn.layer_norm({}, {}, {}, axis=[{}])", data, gamma, beta, shape.size() - 1));
}

// Instance norm; of parts of the channels: group norm.
void InstanceNorm(Draw& draw) {
  const Shape shape = {1 + draw.Below(2), draw.Extent(33), draw.Extent(17), draw.Extent(17)};
  const std::string data = draw.Param(shape);
  const std::string normed = draw.Let(
      fmt::format("nn.layer_norm({}, axis={})", data, draw.Of({"[2, 3]", "[2, 3]", "[1, 2, 3]"})));
  if (draw.Once(3)) return;
  const Shape channel = {shape[1], 1, 1};
  const std::string scaled = draw.Let(fmt::format("multiply({}, {})", normed, draw.Const(channel)));
  draw.Let(fmt::format("add({}, {})", scaled, draw.Const(channel)));
}

void BatchNorm(Draw& draw) {
  const Shape shape = {1 + draw.Below(2), draw.Extent(33), draw.Extent(17), draw.Extent(17)};
  const std::string data = draw.Param(shape);
  const Shape channel = {shape[1]};
  const std::string gamma = draw.Const(channel), beta = draw.Const(channel);
  const std::string mean = draw.Const(channel), variance = draw.Const(channel);
  const std::string value = draw.Let(fmt::format("nn.batch_norm({}, {}, {}, {}, {}, epsilon=0.001)",
                                                 data, gamma, beta, mean, variance));
  if (draw.Once(2)) draw.Let(fmt::format("nn.relu({})", value));
}

void Reduction(Draw& draw) {
  const Shape shape = Rows(draw, 3);
  std::string data = draw.Param(shape);
  if (draw.Once(3)) data = draw.Let(fmt::format("nn.relu({})", data));
  const char* const op = draw.Of({"sum", "sum", "mean", "mean", "max", "min", "prod"});
  const char* const axes = draw.Of({"[2]", "[2]", "[1, 2]", "[0]", "[1]", "[0, 1, 2]", "[0, 2]"});
  const std::string value = draw.Let(
      fmt::format("{}({}, axis={}, keepdims={})", op, data, axes, draw.Of({"true", "false"})));
  if (draw.Once(3)) draw.Let(fmt::format("multiply({}, 0.25f32)", value));
}

// The result goes with each element of its row.
void ReductionSpread(Draw& draw) {
  const Shape shape = Rows(draw, 2);
  const std::string data = draw.Param(shape);
  const std::string most = draw.Let(fmt::format("max({}, axis=[1], keepdims=true)", data));
  const std::string less = draw.Let(fmt::format("subtract({}, {})", data, most));
  const std::string power = draw.Let(fmt::format("exp({})", less));
  if (draw.Once(2)) return;
  const std::string total = draw.Let(fmt::format("sum({}, axis=[1], keepdims=true)", power));
  draw.Let(fmt::format("divide({}, {})", power, total));
}

// Integers: exact in any order, equal ones too.
void ArgReduction(Draw& draw) {
  const std::string data = draw.Param(Rows(draw, 2), "int32");
  draw.Let(fmt::format("{}({}, axis={}, keepdims={})", draw.Of({"argmax", "argmin"}), data,
                       draw.Below(2), draw.Of({"true", "false"})));
}

}  // namespace

std::vector<Family> RowFamilies() {
  return {{"softmax", Softmax, ""},
          {"layer_norm", LayerNorm, ""},
          {"instance_norm", InstanceNorm, ""},
          {"batch_norm", BatchNorm, ""},
          {"reduction", Reduction, ""},
          {"reduction_spread", ReductionSpread, ""},
          {"arg_reduction", ArgReduction, ""}};
}

}  // namespace hone::codegen
