// FusedBatchNorm and its versions, LRN, Softmax, LogSoftmax.
#include <fmt/format.h>

#include "compiler/frontend/tensorflow/converters.h"
#include "compiler/frontend/tensorflow/image.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

Results FusedBatchNorm(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const bool training, node.BoolAttr("is_training", true));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.FloatAttr("epsilon", 1e-4));
  node.Raw("exponential_avg_factor");  // of training alone
  if (training) {
    return absl::UnimplementedError(
        "batch normalisation with is_training=false was expected, found true; freeze the model for "
        "inference");
  }
  HONE_ASSIGN_OR_RETURN(const Image image, ReadImage(node));
  std::vector<ir::Expr> args = {image.data};
  const char* const names[] = {"scale", "offset", "mean", "variance"};
  for (size_t i = 0; i < 4; ++i) {
    HONE_ASSIGN_OR_RETURN(ir::Expr arg, node.Given(1 + i, names[i]));
    args.push_back(std::move(arg));
  }
  return One(Emit("nn.batch_norm", std::move(args), {{"epsilon", epsilon}}), image.channels_last);
}

// Over neighbouring channels. Hone's alpha is that of the mean of squares, not of their sum.
Results Lrn(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t radius, node.IntAttr("depth_radius", 5));
  HONE_ASSIGN_OR_RETURN(const double bias, node.FloatAttr("bias", 1));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.FloatAttr("alpha", 1));
  HONE_ASSIGN_OR_RETURN(const double beta, node.FloatAttr("beta", 0.5));
  constexpr int64_t kMostRadius = 1 << 18;
  if (RankOf(value.e) != 4 || radius < 0 || radius > kMostRadius) {
    return absl::InvalidArgumentError(
        fmt::format("an image of 4 axes and depth_radius of 0 to {} were expected, found {} and {}",
                    kMostRadius, value.e->type->ToString(), radius));
  }
  const int64_t size = 2 * radius + 1;
  const int64_t axis = value.channels_first ? 1 : 3;
  return One(Emit("nn.lrn", {value.e},
                  {{"size", size},
                   {"axis", axis},
                   {"bias", bias},
                   {"alpha", alpha * static_cast<double>(size)},
                   {"beta", beta}}),
             value.channels_first);
}

// Along the last axis.
Results Softmax(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "logits"));
  const int64_t rank = RankOf(value.e);
  if (rank == 0) return absl::InvalidArgumentError("logits of an axis were expected, found none");
  const int64_t axis = value.channels_first ? 1 : rank - 1;
  return One(Emit(op, {value.e}, {{"axis", axis}}), value.channels_first);
}

}  // namespace

void AddNormalizationConverters(ConverterTable& table) {
  for (const char* name : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}) {
    table[name] = FusedBatchNorm;
  }
  table["LRN"] = Lrn;
  table["Softmax"] = [](NodeReader& node) { return Softmax(node, "nn.softmax"); };
  table["LogSoftmax"] = [](NodeReader& node) { return Softmax(node, "nn.log_softmax"); };
}

}  // namespace hone::frontend::tf
