// Einsum: as transposes and matrix products, operand after operand, which kernels are made for;
// what is none of those (diagonals, extents of 1 that broadcast) is Hone's einsum.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

struct Equation {
  std::vector<std::string> operands;  // a letter an axis
  std::string result;
  std::string ToString() const { return fmt::format("{}->{}", fmt::join(operands, ","), result); }
};

constexpr char kEllipsis[] = "...";

// Splits the text; an ellipsis stays. The arrow may be missing.
Equation Split(const std::string& text, bool* has_result) {
  std::string dense;
  std::copy_if(text.begin(), text.end(), std::back_inserter(dense),
               [](char c) { return c != ' '; });
  const size_t arrow = dense.find("->");
  *has_result = arrow != std::string::npos;
  Equation equation;
  if (*has_result) equation.result = dense.substr(arrow + 2);
  std::string rest = dense.substr(0, arrow);
  for (size_t comma; (comma = rest.find(',')) != std::string::npos; rest = rest.substr(comma + 1)) {
    equation.operands.push_back(rest.substr(0, comma));
  }
  equation.operands.push_back(rest);
  return equation;
}

// Letters that `text` does not use.
std::string UnusedLetters(const std::string& text, size_t count) {
  std::string letters;
  for (const char first : {'A', 'a'}) {
    for (int i = 0; i < 26 && letters.size() < count; ++i) {
      const char letter = static_cast<char>(first + i);
      if (text.find(letter) == std::string::npos) letters += letter;
    }
  }
  return letters;
}

// Letters for the axes of each ellipsis, from the last one backwards.
absl::Status SpellOutEllipsis(const std::string& text, const std::vector<ir::Expr>& args,
                              Equation* equation, std::string* letters) {
  size_t most = 0;
  std::vector<size_t> counts;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool has = equation->operands[i].find(kEllipsis) != std::string::npos;
    const size_t named = equation->operands[i].size() - (has ? 3 : 0);
    const auto rank = static_cast<size_t>(RankOf(args[i]));
    if (rank < named || (!has && rank != named)) {
      return absl::InvalidArgumentError(fmt::format("{} of \"{}\" was expected to fit {}",
                                                    equation->operands[i], text,
                                                    args[i]->type->ToString()));
    }
    counts.push_back(rank - named);
    most = std::max(most, counts.back());
  }
  *letters = UnusedLetters(text, most);
  if (letters->size() < most) {
    return absl::InvalidArgumentError("the equation has more axes than there are letters");
  }
  for (size_t i = 0; i < args.size(); ++i) {
    std::string& operand = equation->operands[i];
    const size_t at = operand.find(kEllipsis);
    if (at != std::string::npos) operand.replace(at, 3, letters->substr(most - counts[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<Equation> ParseEquation(const std::string& text, const std::vector<ir::Expr>& args) {
  bool has_result = false;
  Equation equation = Split(text, &has_result);
  if (equation.operands.size() != args.size()) {
    return absl::InvalidArgumentError(fmt::format("\"{}\" is for {} operands, found {}", text,
                                                  equation.operands.size(), args.size()));
  }
  std::string letters;
  HONE_RETURN_IF_ERROR(SpellOutEllipsis(text, args, &equation, &letters));
  if (has_result) {
    const size_t at = equation.result.find(kEllipsis);
    if (at != std::string::npos) equation.result.replace(at, 3, letters);
    return equation;
  }
  // Without a result it has the letters that stand once, in alphabetical order.
  std::map<char, int> counts;
  for (const std::string& operand : equation.operands) {
    for (const char c : operand) ++counts[c];
  }
  equation.result = letters;
  for (const auto& [letter, count] : counts) {
    if (count == 1 && letters.find(letter) == std::string::npos) equation.result += letter;
  }
  return equation;
}

bool Contains(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

// Each letter once an operand, and one extent wherever it stands.
bool IsPlain(const Equation& equation, const std::vector<ir::Expr>& args) {
  std::map<char, int64_t> extents;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& operand = equation.operands[i];
    for (size_t k = 0; k < operand.size(); ++k) {
      if (operand.find(operand[k]) != k) return false;
      const int64_t extent = ShapeOf(args[i])[k];
      if (extents.try_emplace(operand[k], extent).first->second != extent) return false;
    }
  }
  const auto known = [&](char c) { return extents.contains(c); };
  return std::all_of(equation.result.begin(), equation.result.end(), known);
}

struct Term {
  ir::Expr value;
  std::string letters;

  Shape ExtentsOf(const std::string& wanted) const {
    Shape extents;
    for (const char c : wanted) extents.push_back(ShapeOf(value)[letters.find(c)]);
    return extents;
  }
};

class Contraction {
 public:
  // Sums over the letters that are not in `keep`.
  Term Summed(const Term& term, const std::string& keep) {
    Shape axes;
    std::string left;
    for (size_t i = 0; i < term.letters.size(); ++i) {
      if (Contains(keep, term.letters[i])) {
        left += term.letters[i];
      } else {
        axes.push_back(static_cast<int64_t>(i));
      }
    }
    if (axes.empty()) return term;
    return {f_.Call("sum", {term.value}, {{"axis", axes}}), left};
  }

  ir::Expr Ordered(const Term& term, const std::string& order) {
    Shape axes;
    for (const char c : order) axes.push_back(static_cast<int64_t>(term.letters.find(c)));
    return term.value ? f_.Transpose(term.value, axes) : term.value;
  }

  // The product of two, without the letters that are not in `keep`.
  Term Product(const Term& a_term, const Term& b_term, const std::string& keep) {
    const Term a = Summed(a_term, keep + b_term.letters);
    const Term b = Summed(b_term, keep + a_term.letters);
    if (!a.value || !b.value) return {};
    std::string batch;
    std::string rows;
    std::string depth;
    std::string columns;
    for (const char c : a.letters) {
      (!Contains(b.letters, c) ? rows : Contains(keep, c) ? batch : depth) += c;
    }
    for (const char c : b.letters) {
      if (!Contains(a.letters, c)) columns += c;
    }
    const Shape outer = a.ExtentsOf(batch);
    const Shape m = a.ExtentsOf(rows);
    const Shape n = b.ExtentsOf(columns);
    const int64_t k = ops::Product(a.ExtentsOf(depth));
    Shape left = outer;
    Shape right = outer;
    if (!batch.empty()) left = right = {ops::Product(outer)};
    left.insert(left.end(), {ops::Product(m), k});
    right.insert(right.end(), {ops::Product(n), k});
    const ir::Expr x = f_.Reshape(Ordered(a, batch + rows + depth), left);
    const ir::Expr y = f_.Reshape(Ordered(b, batch + columns + depth), right);
    Shape shape = outer;
    shape.insert(shape.end(), m.begin(), m.end());
    shape.insert(shape.end(), n.begin(), n.end());
    ir::Expr product;
    if (depth.empty()) {  // k is 1: rows by columns
      right = Shape(right.begin(), right.end() - 2);
      right.insert(right.end(), {1, ops::Product(n)});
      product = f_.Mul(x, f_.Reshape(y, right));
    } else {
      product = f_.Call(batch.empty() ? "nn.dense" : "nn.batch_matmul", {x, y});
      product = f_.Cast(product, DtypeOf(a.value));  // small integers are summed in int32
    }
    return {f_.Reshape(product, shape), batch + rows + columns};
  }

  Results Run(const Equation& equation, const std::vector<ir::Expr>& args) {
    Term term = {args[0], equation.operands[0]};
    for (size_t i = 1; i < args.size() && term.value; ++i) {
      std::string keep = equation.result;
      for (size_t later = i + 1; later < args.size(); ++later) keep += equation.operands[later];
      term = Product(term, {args[i], equation.operands[i]}, keep);
    }
    if (term.value) term = Summed(term, equation.result);
    return f_.Finish({term.value ? Ordered(term, equation.result) : term.value});
  }

 private:
  Formula f_;
};

Results Einsum(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const std::string text, node.String("equation", ""));
  std::vector<ir::Expr> args;
  for (size_t i = 0; i < node.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(ir::Expr arg, node.Arg(i, "Inputs"));
    args.push_back(std::move(arg));
  }
  if (args.empty()) return absl::InvalidArgumentError("its operands are missing");
  HONE_ASSIGN_OR_RETURN(const Equation equation, ParseEquation(text, args));
  if (IsPlain(equation, args)) return Contraction().Run(equation, args);
  Formula f;
  return f.Finish({f.Call("einsum", args, {{"equation", equation.ToString()}})});
}

}  // namespace

void AddEinsumConverters(ConverterTable& table) { table["Einsum"] = Einsum; }

}  // namespace hone::frontend
