// Sums and the normalisation behind them as one operator of the domain com.microsoft, as
// onnxruntime's tools write them: SkipLayerNormalization, SkipSimplifiedLayerNormalization,
// EmbedLayerNormalization and the same of bytes.
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

// Results: the normalised sum, two statistics that inference does not have, and the sum itself.
// `simplified`: by the root mean square, without beta.
Results SkipNormalization(NodeReader& node, bool simplified) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr input, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr skip, node.Arg(1, "skip"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr gamma, node.Arg(2, "gamma"));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", kDefaultEpsilon));
  const ir::Expr beta = simplified ? nullptr : node.ArgOrNull(3);
  const ir::Expr bias = node.ArgOrNull(simplified ? 3 : 4);
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
  if (!mask) {
    return f.Call("broadcast_to", {ScalarConstant(0, DataType::kInt32)}, {{"shape", Shape{batch}}});
  }
  const ir::Expr one = f.Number(1, mask);
  const ir::Expr present = f.Cast(f.Call("equal", {mask, one}), DataType::kInt32);
  return f.Call("sum", {present}, {{"axis", Shape{1}}, {"keepdims", false}});
}

// A table of rows, or a vector: real numbers, or bytes where they have a scale.
struct EmbeddingTable {
  ir::Expr data;
  ir::Expr scale;  // or null
  ir::Expr zero_point;

  ir::Expr Real(Formula& f, const ir::Expr& part) const {
    if (!scale) return f.Wide(part);
    return f.Call("qnn.dequantize", {part, f.Reshape(scale, {}), f.Reshape(zero_point, {})});
  }
  ir::Expr Rows(Formula& f, const ir::Expr& at) const {
    return Real(f, f.Call("take", {data, at}, {{"axis", int64_t{0}}}));
  }
};

// Operand `i`, and of bytes its scale and zero point, five and more operands behind it.
absl::StatusOr<EmbeddingTable> ReadTable(const NodeReader& node, size_t i, const char* what,
                                         bool bytes) {
  EmbeddingTable table;
  HONE_ASSIGN_OR_RETURN(table.data, node.Arg(i, what));
  if (!bytes) return table;
  constexpr size_t kFirstTable = 2;
  constexpr size_t kFirstScale = 8;
  constexpr size_t kFirstZeroPoint = 13;
  HONE_ASSIGN_OR_RETURN(table.scale, node.Arg(i - kFirstTable + kFirstScale, "scale"));
  HONE_ASSIGN_OR_RETURN(table.zero_point,
                        node.Arg(i - kFirstTable + kFirstZeroPoint, "zero point"));
  return table;
}

// The sum of a word's, a position's and perhaps a segment's embedding, normalised. Results: that,
// the counts of tokens, the sum. The tables of QEmbedLayerNormalization are `bytes`.
Results EmbedNormalization(NodeReader& node, bool bytes) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr ids, node.Arg(0, "input_ids"));
  HONE_ASSIGN_OR_RETURN(const EmbeddingTable words, ReadTable(node, 2, "word_embedding", bytes));
  HONE_ASSIGN_OR_RETURN(const EmbeddingTable positions,
                        ReadTable(node, 3, "position_embedding", bytes));
  HONE_ASSIGN_OR_RETURN(const EmbeddingTable gamma, ReadTable(node, 5, "gamma", bytes));
  HONE_ASSIGN_OR_RETURN(const EmbeddingTable beta, ReadTable(node, 6, "beta", bytes));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", kDefaultEpsilon));
  HONE_RETURN_IF_ERROR(node.Int("mask_index_type", 0).status());  // of a mask that is given
  const ir::Expr segment_ids = node.ArgOrNull(1);
  const ir::Expr mask = node.ArgOrNull(7);
  if (RankOf(ids) != 2 || RankOf(positions.data) != 2 ||
      ShapeOf(positions.data)[0] < ShapeOf(ids)[1]) {
    return absl::InvalidArgumentError(
        fmt::format("input_ids (batch, length) and embeddings of as many positions were expected, "
                    "found {} and {}",
                    ids->type->ToString(), positions.data->type->ToString()));
  }
  Formula f;
  const ir::Expr position = !bytes && node.Has(8)
                                ? positions.Rows(f, node.args()[8])
                                : positions.Real(f, f.Slice(positions.data, 0, 0, ShapeOf(ids)[1]));
  ir::Expr sum = f.Add(words.Rows(f, ids), position);
  if (segment_ids) {
    HONE_ASSIGN_OR_RETURN(const EmbeddingTable segments,
                          ReadTable(node, 4, "segment_embedding", bytes));
    sum = f.Add(sum, segments.Rows(f, segment_ids));
  }
  const ir::Expr scale = gamma.Real(f, gamma.data);
  const ir::Expr bias = beta.Real(f, beta.data);
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, LayerNorm(f, sum, scale, bias, epsilon));
  const DataType dtype = bytes ? DtypeOf(y) : DtypeOf(words.data);
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
  table["com.microsoft.EmbedLayerNormalization"] = [](NodeReader& node) {
    return EmbedNormalization(node, /*bytes=*/false);
  };
  table["com.microsoft.QEmbedLayerNormalization"] = [](NodeReader& node) {
    return EmbedNormalization(node, /*bytes=*/true);
  };
}

}  // namespace hone::frontend
