// FusedBatchNorm and its versions, Softmax, LogSoftmax.
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
  table["Softmax"] = [](NodeReader& node) { return Softmax(node, "nn.softmax"); };
  table["LogSoftmax"] = [](NodeReader& node) { return Softmax(node, "nn.log_softmax"); };
}

}  // namespace hone::frontend::tf
