// Sums and the normalisation behind them as one operator of the domain com.microsoft, as
// onnxruntime's optimiser writes them: SkipLayerNormalization, SkipSimplifiedLayerNormalization,
// EmbedLayerNormalization.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/root_mean_square.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr double kDefaultEpsilon = 1e-12;

// gamma and, where it is given, beta along the last axis of x.
absl::StatusOr<ir::Expr> LayerNorm(Formula& f, const ir::Expr& x, const ir::Expr& gamma,
                                   const ir::Expr& beta, double epsilon) {
  HONE_RETURN_IF_ERROR(f.status());
  std::vector<ir::Expr> args = {x, f.Wide(gamma)};
  if (beta) args.push_back(f.Wide(beta));
  const Shape last = {RankOf(x) - 1};
  return f.FinishOne(
      f.Call("nn.layer_norm", std::move(args), {{"axis", last}, {"epsilon", epsilon}}));
}

absl::StatusOr<ir::Expr> RmsNorm(Formula& f, const ir::Expr& x, const ir::Expr& gamma,
                                 double epsilon) {
  HONE_RETURN_IF_ERROR(f.status());
  const ir::Expr factor = ReciprocalRootMeanSquare(f, x, {RankOf(x) - 1}, epsilon);
  return f.FinishOne(f.Mul(f.Mul(x, factor), f.Wide(gamma)));
}

// Operand `i`, or null.
ir::Expr Optional(const NodeReader& node, size_t i) {
  return node.Has(i) ? node.args()[i] : nullptr;
}

// Results: the normalised sum, two statistics that inference does not have, and the sum itself.
// `simplified`: by the root mean square, without beta.
Results SkipNormalization(NodeReader& node, bool simplified) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr input, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr skip, node.Arg(1, "skip"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr gamma, node.Arg(2, "gamma"));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", kDefaultEpsilon));
  const ir::Expr beta = simplified ? nullptr : Optional(node, 3);
  const ir::Expr bias = Optional(node, simplified ? 3 : 4);
  if (RankOf(input) < 1) {
    return absl::InvalidArgumentError("an input with rows was expected, found " +
                                      input->type->ToString());
  }
  Formula f;
  ir::Expr sum = f.Add(f.Wide(input), f.Wide(skip));
  if (bias) sum = f.Add(sum, f.Wide(bias));
  HONE_RETURN_IF_ERROR(f.status());
  if (ShapeOf(sum) != ShapeOf(input)) {
    return absl::InvalidArgumentError(fmt::format("skip was expected to broadcast to {}, found {}",
                                                  input->type->ToString(), skip->type->ToString()));
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, simplified ? RmsNorm(f, sum, gamma, epsilon)
                                                     : LayerNorm(f, sum, gamma, beta, epsilon));
  return f.Finish({f.Cast(y, DtypeOf(input)), nullptr, nullptr, f.Cast(sum, DtypeOf(input))});
}

// How many tokens of each sequence the mask has, int32; zeros where there is no mask.
ir::Expr TokenCounts(Formula& f, const ir::Expr& mask, int64_t batch) {
  if (!mask) return ScalarConstant(0, DataType::kInt32, {batch});
  const ir::Expr one = f.Number(1, mask);
  const ir::Expr present = f.Cast(f.Call("equal", {mask, one}), DataType::kInt32);
  return f.Call("sum", {present}, {{"axis", Shape{1}}, {"keepdims", false}});
}

// The sum of a word's, a position's and perhaps a segment's embedding, normalised. Results: that,
// the counts of tokens, the sum.
Results EmbedNormalization(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr ids, node.Arg(0, "input_ids"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr words, node.Arg(2, "word_embedding"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr positions, node.Arg(3, "position_embedding"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr gamma, node.Arg(5, "gamma"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr beta, node.Arg(6, "beta"));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", kDefaultEpsilon));
  HONE_RETURN_IF_ERROR(node.Int("mask_index_type", 0).status());  // of a mask that is given
  const ir::Expr segment_ids = Optional(node, 1);
  const ir::Expr mask = Optional(node, 7);
  if (RankOf(ids) != 2 || RankOf(positions) != 2 || ShapeOf(positions)[0] < ShapeOf(ids)[1]) {
    return absl::InvalidArgumentError(
        fmt::format("input_ids (batch, length) and embeddings of as many positions were expected, "
                    "found {} and {}",
                    ids->type->ToString(), positions->type->ToString()));
  }
  Formula f;
  const auto rows = [&](const ir::Expr& table, const ir::Expr& at) {
    return f.Wide(f.Call("take", {table, at}, {{"axis", int64_t{0}}}));
  };
  const ir::Expr position = node.Has(8) ? rows(positions, node.args()[8])
                                        : f.Wide(f.Slice(positions, 0, 0, ShapeOf(ids)[1]));
  ir::Expr sum = f.Add(rows(words, ids), position);
  if (segment_ids) {
    HONE_ASSIGN_OR_RETURN(const ir::Expr segments, node.Arg(4, "segment_embedding"));
    sum = f.Add(sum, rows(segments, segment_ids));
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, LayerNorm(f, sum, gamma, beta, epsilon));
  const DataType dtype = DtypeOf(words);
  return f.Finish({f.Cast(y, dtype), TokenCounts(f, mask, ShapeOf(ids)[0]), f.Cast(sum, dtype)});
}

}  // namespace

void AddSkipNormalizationConverters(ConverterTable& table) {
  table["com.microsoft.SkipLayerNormalization"] = [](NodeReader& node) {
    return SkipNormalization(node, /*simplified=*/false);
  };
  table["com.microsoft.SkipSimplifiedLayerNormalization"] = [](NodeReader& node) {
    return SkipNormalization(node, /*simplified=*/true);
  };
  table["com.microsoft.EmbedLayerNormalization"] = EmbedNormalization;
}

}  // namespace hone::frontend
