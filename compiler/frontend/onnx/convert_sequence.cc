// Sequences and optionals: their lengths, and which item is meant, must be known at import.
#include <fmt/format.h>

#include <set>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/sequence.h"
#include "compiler/ops/call_type.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr char kNothing[] = "nothing";

Results OneSequence(NodeReader& node, std::vector<ir::Expr> items) {
  return One(SequenceOf(node, std::move(items)));
}

// Its items are its args. They are copied only where a new sequence is made, for that is charged.
absl::StatusOr<ir::Expr> SequenceOperand(const NodeReader& node, size_t i) {
  HONE_ASSIGN_OR_RETURN(ir::Expr e, node.Arg(i, "sequence"));
  if (IsSequence(e)) return e;
  return absl::InvalidArgumentError(
      fmt::format("a sequence was expected, found {}",
                  IsNothing(e) ? "an optional that holds nothing" : e->type->ToString()));
}

// What a tuple of these holds: each with its type.
absl::Status ChargeItems(NodeReader& node, const std::vector<ir::Expr>& items) {
  constexpr int64_t kBytesPerItem = 256;
  return node.Generate(static_cast<int64_t>(items.size()) * kBytesPerItem);
}

// Operand `i` as a place of 0 .. count-1; of -count from the end.
absl::StatusOr<int64_t> Place(const NodeReader& node, size_t i, int64_t count) {
  HONE_ASSIGN_OR_RETURN(const auto given, node.ConstantInts(i, "position"));
  if (given.size() == 1 && given[0] >= -count && given[0] < count) {
    return given[0] < 0 ? given[0] + count : given[0];
  }
  return absl::InvalidArgumentError(
      fmt::format("one position of -{0} to {1} in the sequence was expected, found {2}", count,
                  count - 1, given.size() == 1 ? fmt::format("{}", given[0]) : "several"));
}

Results Construct(NodeReader& node) {
  for (size_t i = 0; i < node.size(); ++i) HONE_RETURN_IF_ERROR(node.Arg(i, "inputs").status());
  return OneSequence(node, node.args());
}

Results Empty(NodeReader& node) {
  HONE_RETURN_IF_ERROR(node.Int("dtype", 1).status());
  return OneSequence(node, {});
}

Results At(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr sequence, SequenceOperand(node, 0));
  const auto count = static_cast<int64_t>(sequence->args.size());
  HONE_ASSIGN_OR_RETURN(const int64_t at, Place(node, 1, count));
  return std::vector<ir::Expr>{sequence->args[at]};
}

Results Erase(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr sequence, SequenceOperand(node, 0));
  const auto count = static_cast<int64_t>(sequence->args.size());
  int64_t at = count - 1;
  if (node.Has(1)) {
    HONE_ASSIGN_OR_RETURN(at, Place(node, 1, count));
  }
  if (count == 0) return absl::InvalidArgumentError("a sequence that is not empty was expected");
  std::vector<ir::Expr> items = sequence->args;
  items.erase(items.begin() + at);
  return OneSequence(node, std::move(items));
}

// A negative position counts from the end, before the insertion.
Results Insert(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr sequence, SequenceOperand(node, 0));
  HONE_ASSIGN_OR_RETURN(ir::Expr item, node.Arg(1, "tensor"));
  const auto count = static_cast<int64_t>(sequence->args.size());
  int64_t at = count;
  if (node.Has(2)) {
    HONE_ASSIGN_OR_RETURN(const auto given, node.ConstantInts(2, "position"));
    if (given.size() != 1 || given[0] < -count || given[0] > count) {
      return absl::InvalidArgumentError(
          fmt::format("one position of -{0} to {0} was expected", count));
    }
    at = given[0] < 0 ? given[0] + count : given[0];
  }
  std::vector<ir::Expr> items = sequence->args;
  items.insert(items.begin() + at, std::move(item));
  return OneSequence(node, std::move(items));
}

Results Length(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr sequence, SequenceOperand(node, 0));
  const auto count = static_cast<int64_t>(sequence->args.size());
  return std::vector<ir::Expr>{ir::ConstantFromBytes({{}, DataType::kInt64}, &count)};
}

// The sizes of the parts: each 1 without `split`, of one number that many and a smaller last one.
absl::StatusOr<Shape> PartsOf(NodeReader& node, int64_t extent) {
  Shape parts;
  if (!node.Has(1)) {
    HONE_RETURN_IF_ERROR(node.Unroll(extent));
    return Shape(extent, 1);
  }
  HONE_ASSIGN_OR_RETURN(parts, node.ConstantInts(1, "split"));
  if (RankOf(node.args()[1]) != 0) {
    HONE_RETURN_IF_ERROR(node.Unroll(static_cast<int64_t>(parts.size())));
    return parts;
  }
  const int64_t size = parts[0];
  if (size < 1) return absl::InvalidArgumentError("a split of at least 1 was expected");
  parts.clear();
  HONE_RETURN_IF_ERROR(node.Unroll(extent / size + 1));
  for (int64_t left = extent; left > 0; left -= size) parts.push_back(std::min(left, size));
  return parts;
}

Results SplitToSequence(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t given_axis, node.Int("axis", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t keeps, node.Int("keepdims", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given_axis, RankOf(data)));
  const int64_t extent = ShapeOf(data)[axis];
  HONE_ASSIGN_OR_RETURN(const Shape parts, PartsOf(node, extent));
  std::vector<ir::Expr> items;
  int64_t begin = 0;
  for (const int64_t part : parts) {
    if (part < 0 || part > extent - begin) break;
    HONE_ASSIGN_OR_RETURN(ir::Expr item, SliceOf(data, axis, begin, begin + part));
    if (keeps == 0 && !node.Has(1)) {
      Shape shape = ShapeOf(item);
      shape.erase(shape.begin() + axis);
      HONE_ASSIGN_OR_RETURN(item, ReshapedTo(item, shape));
    }
    items.push_back(std::move(item));
    begin += part;
  }
  if (begin == extent && items.size() == parts.size()) return OneSequence(node, std::move(items));
  return absl::InvalidArgumentError(fmt::format("parts that sum to {} were expected", extent));
}

Results ConcatFromSequence(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr sequence, SequenceOperand(node, 0));
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t is_new, node.Int("new_axis", 0));
  std::vector<ir::Expr> items = sequence->args;
  if (items.empty()) return absl::InvalidArgumentError("a sequence that is not empty was expected");
  HONE_RETURN_IF_ERROR(ChargeItems(node, items));
  if (is_new != 0) HONE_RETURN_IF_ERROR(node.Unroll(static_cast<int64_t>(items.size())));
  const int64_t rank = RankOf(items[0]) + (is_new != 0 ? 1 : 0);
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given, rank));
  for (ir::Expr& item : items) {
    if (is_new == 0) break;
    HONE_ASSIGN_OR_RETURN(item, Emit("expand_dims", {item}, {{"axis", axis}}));
  }
  return One(ConcatenationOf(std::move(items), axis));
}

Results Optional(NodeReader& node) {
  node.Raw("type");
  return std::vector<ir::Expr>{node.Has(0) ? node.args()[0] : Nothing()};
}

Results HasElement(NodeReader& node) {
  const bool has = node.Has(0) && !IsNothing(node.args()[0]);
  return std::vector<ir::Expr>{ScalarConstant(has ? 1 : 0, DataType::kBool)};
}

Results GetElement(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr e, node.Arg(0, "input"));
  if (IsNothing(e)) return absl::InvalidArgumentError("its optional holds nothing");
  return std::vector<ir::Expr>{std::move(e)};
}

}  // namespace

absl::StatusOr<ir::Expr> SequenceOf(NodeReader& node, std::vector<ir::Expr> items) {
  HONE_RETURN_IF_ERROR(ChargeItems(node, items));
  return ops::TypedTuple(std::move(items));
}

ir::Expr Nothing() { return ir::WithAttrs(ops::TypedTuple({}), {{kNothing, true}}); }

bool IsNothing(const ir::Expr& e) {
  return e->kind == ir::ExprKind::kTuple && e->attrs.contains(kNothing);
}

bool IsSequence(const ir::Expr& e) { return e->kind == ir::ExprKind::kTuple && !IsNothing(e); }

absl::Status CheckOperands(const NodeReader& node) {
  // Each operand of another operator has to be a tensor: the operators on sequences check theirs.
  static const std::set<std::string> kAny = {
      "Identity",          "Loop",     "SequenceAt",         "SequenceErase", "SequenceInsert",
      "SequenceLength",    "Optional", "OptionalHasElement", "SequenceMap",   "ConcatFromSequence",
      "OptionalGetElement"};
  const bool takes_any = kAny.contains(node.node().op);
  for (size_t i = 0; i < node.size(); ++i) {
    // The first two of a loop are its trip count and condition; of those that know which item or
    // where, that comes behind the sequence.
    const bool must = node.node().op == "Loop"          ? i < 2
                      : node.node().op == "SequenceMap" ? false
                                                        : i > 0;
    if (!node.Has(i) || node.args()[i]->type->IsTensor() || (takes_any && !must)) continue;
    return absl::InvalidArgumentError(
        fmt::format("operand {} was expected to be a tensor, found {}", i,
                    IsNothing(node.args()[i]) ? "an optional that holds nothing" : "a sequence"));
  }
  return absl::OkStatus();
}

void AddSequenceConverters(ConverterTable& table) {
  table["SequenceConstruct"] = Construct;
  table["SequenceEmpty"] = Empty;
  table["SequenceAt"] = At;
  table["SequenceErase"] = Erase;
  table["SequenceInsert"] = Insert;
  table["SequenceLength"] = Length;
  table["SplitToSequence"] = SplitToSequence;
  table["ConcatFromSequence"] = ConcatFromSequence;
  table["Optional"] = Optional;
  table["OptionalHasElement"] = HasElement;
  table["OptionalGetElement"] = GetElement;
}

}  // namespace hone::frontend
