// TfIdfVectorizer of integers: every n-gram of its pool compared with every place of the rows.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The n-grams of one size, one after the other, and the columns they are counted in.
struct Grams {
  int64_t size = 0;
  std::vector<int64_t> items;
  std::vector<int64_t> columns;
};

struct GramPool {
  std::vector<Grams> wanted;  // of the sizes that are counted
  int64_t columns = 0;
};

absl::StatusOr<GramPool> ReadPool(NodeReader& node, int64_t shortest, int64_t longest) {
  HONE_ASSIGN_OR_RETURN(const auto items, node.Ints("pool_int64s"));
  HONE_ASSIGN_OR_RETURN(Shape starts, node.Ints("ngram_counts"));
  HONE_ASSIGN_OR_RETURN(const auto columns, node.Ints("ngram_indexes"));
  if (node.HasAttr("pool_strings")) return absl::UnimplementedError("Hone has no strings");
  GramPool pool;
  starts.push_back(static_cast<int64_t>(items.size()));
  size_t next = 0;
  bool fits = starts.size() > 1 && starts[0] == 0;
  for (size_t i = 0; fits && i + 1 < starts.size(); ++i) {
    const auto size = static_cast<int64_t>(i) + 1;
    fits = starts[i] <= starts[i + 1] && starts[i + 1] <= static_cast<int64_t>(items.size());
    if (!fits) break;
    const int64_t length = starts[i + 1] - starts[i];
    const auto grams = static_cast<size_t>(length / size);
    fits = length % size == 0 && grams <= columns.size() - next;
    if (!fits) break;
    if (size >= shortest && size <= longest && grams > 0) {
      pool.wanted.push_back({.size = size,
                             .items = {items.begin() + starts[i], items.begin() + starts[i + 1]},
                             .columns = {columns.begin() + static_cast<int64_t>(next),
                                         columns.begin() + static_cast<int64_t>(next + grams)}});
    }
    next += grams;
  }
  std::vector<int64_t> sorted = columns;
  std::sort(sorted.begin(), sorted.end());
  const bool each_once = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  constexpr int64_t kMostColumns = 1 << 24;
  if (fits && next == columns.size() && each_once && !sorted.empty() && sorted[0] >= 0 &&
      sorted.back() < kMostColumns) {
    pool.columns = sorted.back() + 1;
    return pool;
  }
  return absl::InvalidArgumentError(
      "n-grams by size, each with a column of its own, were expected in its pool");
}

// The k-th items of all n-grams, for each k: (1, 1, n-grams).
std::vector<ir::Expr> ItemsByPlace(Formula& f, const Grams& grams) {
  const auto count = static_cast<int64_t>(grams.columns.size());
  std::vector<ir::Expr> places;
  for (int64_t k = 0; k < grams.size; ++k) {
    std::vector<int64_t> items(count);
    for (int64_t g = 0; g < count; ++g) items[g] = grams.items[g * grams.size + k];
    places.push_back(f.Reshape(IntsConstant(items), {1, 1, count}));
  }
  return places;
}

// How often each n-gram stands in `rows` (rows, places, 1) with every `step`-th item: (rows,
// n-grams).
ir::Expr CountOf(Formula& f, const ir::Expr& rows, const std::vector<ir::Expr>& wanted,
                 int64_t step) {
  const auto size = static_cast<int64_t>(wanted.size());
  const int64_t places = ShapeOf(rows)[1] - step * (size - 1);
  ir::Expr matches;
  for (int64_t k = 0; k < size; ++k) {
    const ir::Expr items =
        f.Call("strided_slice", {rows},
               {{"begin", Shape{k * step}}, {"end", Shape{k * step + places}}, {"axes", Shape{1}}});
    const ir::Expr same = f.Cast(f.Call("equal", {items, wanted[k]}), DataType::kFloat32);
    matches = k == 0 ? same : f.Mul(matches, same);
  }
  return f.Call("sum", {matches}, {{"axis", Shape{1}}});
}

// Zeros of any size, without their bytes in the graph.
ir::Expr Zeros(Formula& f, const Shape& shape) {
  return f.Call("broadcast_to", {ScalarConstant(0, DataType::kFloat32)}, {{"shape", shape}});
}

// The sum of the counts over all steps: (rows, n-grams).
absl::StatusOr<ir::Expr> Counts(NodeReader& node, Formula& f, const ir::Expr& rows,
                                const Grams& grams, int64_t steps) {
  const int64_t length = ShapeOf(rows)[1];
  ir::Expr sum = Zeros(f, {ShapeOf(rows)[0], static_cast<int64_t>(grams.columns.size())});
  if (grams.size > length) return f.FinishOne(sum);
  HONE_RETURN_IF_ERROR(node.Unroll(grams.size));
  const std::vector<ir::Expr> wanted = ItemsByPlace(f, grams);
  // A gram of one item has nothing to skip.
  for (int64_t step = 1; step <= (grams.size == 1 ? 1 : steps); ++step) {
    if (step * (grams.size - 1) >= length) break;
    HONE_RETURN_IF_ERROR(node.Unroll(3 * grams.size));
    sum = f.Add(sum, CountOf(f, rows, wanted, step));
  }
  return f.FinishOne(sum);
}

// (rows, columns), of which those that no n-gram counts hold 0.
absl::StatusOr<ir::Expr> Frequencies(NodeReader& node, const ir::Expr& rows, const GramPool& pool,
                                     int64_t steps) {
  Formula f;
  std::vector<ir::Expr> parts = {Zeros(f, {ShapeOf(rows)[0], 1})};
  if (!parts[0]) return f.status();
  // The places and the constant that is made of them.
  HONE_RETURN_IF_ERROR(node.Generate(2 * pool.columns * static_cast<int64_t>(sizeof(int64_t))));
  std::vector<int64_t> source(pool.columns, 0);
  int64_t next = 1;
  for (const Grams& grams : pool.wanted) {
    for (const int64_t column : grams.columns) source[column] = next++;
    HONE_ASSIGN_OR_RETURN(ir::Expr counts, Counts(node, f, rows, grams, steps));
    parts.push_back(std::move(counts));
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr all, ConcatenationOf(std::move(parts), 1));
  return Emit("take", {all, IntsConstant(source)}, {{"axis", int64_t{1}}});
}

absl::StatusOr<ir::Expr> Weights(NodeReader& node, int64_t columns) {
  const OnnxAttr* const attr = node.Raw("weights");
  if (attr == nullptr) return ScalarConstant(1, DataType::kFloat32);
  const auto* const weights = std::get_if<std::vector<float>>(attr);
  if (weights != nullptr && static_cast<int64_t>(weights->size()) == columns) {
    return ir::ConstantFromBytes({{columns}, DataType::kFloat32}, weights->data());
  }
  return absl::InvalidArgumentError(fmt::format("{} weights were expected", columns));
}

Results TfIdf(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", ""));
  HONE_ASSIGN_OR_RETURN(const int64_t shortest, node.Int("min_gram_length", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t longest, node.Int("max_gram_length", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t skips, node.Int("max_skip_count", 0));
  HONE_ASSIGN_OR_RETURN(const GramPool pool, ReadPool(node, shortest, longest));
  HONE_ASSIGN_OR_RETURN(const ir::Expr weights, Weights(node, pool.columns));
  if (RankOf(x) < 1 || RankOf(x) > 2 || !IsInteger(DtypeOf(x)) || skips < 0) {
    return absl::InvalidArgumentError(
        fmt::format("one or many rows of integers were expected, found {}", x->type->ToString()));
  }
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return absl::InvalidArgumentError(fmt::format("unknown mode '{}'", mode));
  }
  const int64_t length = ShapeOf(x).back();
  HONE_RETURN_IF_ERROR(
      TensorBytes({RankOf(x) == 2 ? ShapeOf(x)[0] : 1, pool.columns}, DataType::kFloat32).status());
  Formula f;
  const ir::Expr rows =
      f.Reshape(f.Cast(x, DataType::kInt64), {RankOf(x) == 2 ? ShapeOf(x)[0] : 1, length, 1});
  if (!rows) return f.status();
  HONE_ASSIGN_OR_RETURN(ir::Expr y, Frequencies(node, rows, pool, std::min(skips, length) + 1));
  if (mode == "IDF") y = f.Min(y, f.Number(1, y));
  if (mode != "TF") y = f.Mul(y, weights);
  return f.Finish({RankOf(x) == 2 ? y : f.Reshape(y, {pool.columns})});
}

}  // namespace

void AddTfIdfConverters(ConverterTable& table) { table["TfIdfVectorizer"] = TfIdf; }

}  // namespace hone::frontend
