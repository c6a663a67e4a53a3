// BatchNormalization, LRN, Softmax, LogSoftmax, Dropout.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Before opset 9 every element of a sample could have a mean and a variance of its own.
Results NormalizedByElement(const std::vector<ir::Expr>& args, double epsilon) {
  Formula f;
  const ir::Expr x = f.Wide(args[0]);
  const ir::Expr variance = f.Wide(args[4]);
  const ir::Expr slope =
      f.Mul(f.Wide(args[1]), f.Call("rsqrt", {f.Add(variance, f.Number(epsilon, variance))}));
  const ir::Expr y = f.Add(f.Mul(f.Sub(x, f.Wide(args[3])), slope), f.Wide(args[2]));
  HONE_RETURN_IF_ERROR(f.status());
  if (ShapeOf(y) != ShapeOf(x)) {
    return absl::InvalidArgumentError(
        fmt::format("scale, B, mean and var of the shape of a sample of {} were expected, found {}",
                    args[0]->type->ToString(), args[1]->type->ToString()));
  }
  return f.Finish({f.Cast(y, DtypeOf(args[0]))});
}

Results BatchNormalization(NodeReader& node) {
  std::vector<ir::Expr> args;
  const char* const names[] = {"X", "scale", "B", "mean", "var"};
  for (size_t i = 0; i < 5; ++i) {
    HONE_ASSIGN_OR_RETURN(ir::Expr arg, node.Arg(i, names[i]));
    args.push_back(std::move(arg));
  }
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", 1e-5));
  HONE_RETURN_IF_ERROR(node.Float("momentum", 0.9).status());  // of training alone
  HONE_RETURN_IF_ERROR(node.Int("is_test", 1).status());
  HONE_ASSIGN_OR_RETURN(const int64_t training, node.Int("training_mode", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t spatial, node.Int("spatial", 1));
  if (training != 0) {
    return absl::UnimplementedError("Hone has batch normalisation of inference only");
  }
  if (spatial == 0) return NormalizedByElement(args, epsilon);
  HONE_ASSIGN_OR_RETURN(ir::Expr result,
                        Emit("nn.batch_norm", std::move(args), {{"epsilon", epsilon}}));
  return std::vector<ir::Expr>{result};
}

Results Lrn(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1e-4));
  HONE_ASSIGN_OR_RETURN(const double beta, node.Float("beta", 0.75));
  HONE_ASSIGN_OR_RETURN(const double bias, node.Float("bias", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t size, node.Int("size", 0));
  HONE_ASSIGN_OR_RETURN(
      ir::Expr result,
      Emit("nn.lrn", {data}, {{"alpha", alpha}, {"beta", beta}, {"bias", bias}, {"size", size}}));
  return std::vector<ir::Expr>{result};
}

// Before opset 13 all axes from `axis` on are one, which holds the distribution.
absl::StatusOr<ir::Expr> FlatSoftmax(const std::string& op, const ir::Expr& data, int64_t axis) {
  const Shape& shape = ShapeOf(data);
  const int64_t rank = RankOf(data);
  if (axis < -rank || axis > rank) {
    return absl::InvalidArgumentError(
        fmt::format("an axis of {} was expected, found {}", data->type->ToString(), axis));
  }
  if (axis < 0) axis += rank;
  Shape flat = {1, 1};
  for (int64_t i = 0; i < rank; ++i) flat[i < axis ? 0 : 1] *= shape[i];
  const bool one_axis = axis < rank && flat[1] == shape[axis];
  if (one_axis) return Emit(op, {data}, {{"axis", axis}});
  HONE_ASSIGN_OR_RETURN(const ir::Expr rows, Emit("reshape", {data}, {{"newshape", flat}}));
  HONE_ASSIGN_OR_RETURN(const ir::Expr result, Emit(op, {rows}, {{"axis", int64_t{1}}}));
  return Emit("reshape", {result}, {{"newshape", shape}});
}

Results Softmax(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  const bool flattens = node.opset() < 13;
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", flattens ? 1 : -1));
  HONE_ASSIGN_OR_RETURN(
      ir::Expr result, flattens ? FlatSoftmax(op, data, axis) : Emit(op, {data}, {{"axis", axis}}));
  return std::vector<ir::Expr>{result};
}

// In inference the results are the data, and a mask that is all true.
Results Dropout(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_RETURN_IF_ERROR(node.Float("ratio", 0.5).status());
  HONE_RETURN_IF_ERROR(node.Int("is_test", 1).status());
  HONE_RETURN_IF_ERROR(node.Int("seed", 0).status());
  if (node.Has(2)) {
    HONE_ASSIGN_OR_RETURN(const double training, node.ConstantScalar(2, "training_mode"));
    double ratio = 0.5;
    if (training != 0 && node.Has(1)) {
      HONE_ASSIGN_OR_RETURN(ratio, node.ConstantScalar(1, "ratio"));
    }
    if (training != 0 && ratio != 0) {
      return absl::UnimplementedError("Hone has dropout of inference only");
    }
  }
  std::vector<ir::Expr> results = {data};
  const auto& outputs = node.node().outputs;
  if (outputs.size() > 1 && !outputs[1].empty()) {
    const DataType dtype = node.opset() < 10 ? DtypeOf(data) : DataType::kBool;
    results.push_back(nullptr);
    // Old exporters name the mask and nothing reads it: make it only for small tensors, so that a
    // model's memory is not spent on ones.
    constexpr int64_t kMost = 1 << 20;
    if (data->type->tensor.ElementCount() <= kMost) {
      HONE_RETURN_IF_ERROR(node.Generate(data->type->tensor.ElementCount() * SizeBytes(dtype)));
      // Before opset 12 the mask of inference was left open; others give zeros.
      results.back() = ScalarConstant(node.opset() < 12 ? 0 : 1, dtype, ShapeOf(data));
    }
  }
  return results;
}

}  // namespace

void AddNormalizationConverters(ConverterTable& table) {
  table["BatchNormalization"] = BatchNormalization;
  table["LRN"] = Lrn;
  table["Softmax"] = [](NodeReader& node) { return Softmax(node, "nn.softmax"); };
  table["LogSoftmax"] = [](NodeReader& node) { return Softmax(node, "nn.log_softmax"); };
  table["Dropout"] = Dropout;
}

}  // namespace hone::frontend
