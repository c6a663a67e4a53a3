#include "compiler/frontend/onnx/four_bit.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Without ONNX Runtime's domain: its quantised operators are those of ONNX here.
std::string OperatorOf(const NodeReader& node) {
  const std::string& op = node.node().op;
  constexpr std::string_view kMicrosoft = "com.microsoft.";
  return op.starts_with(kMicrosoft) ? op.substr(kMicrosoft.size()) : op;
}

// Operators whose results are elements of their operands.
bool Moves(const std::string& op) {
  static const auto* const operators = new std::set<std::string>{
      "Concat",  "Expand", "Flatten", "Gather",  "GatherElements", "GatherND",  "Identity", "Pad",
      "Reshape", "Slice",  "Split",   "Squeeze", "Tile",           "Transpose", "Unsqueeze"};
  return operators->contains(op);
}

// Operators that make another type of the operand, or look at its type or shape alone.
bool Reads(const std::string& op, size_t operand) {
  if (op == "DequantizeLinear") return operand != 1;
  if (op == "QuantizeLinear") return operand == 2;
  if (op == "CastLike") return true;
  return operand == 0 && (op == "Cast" || op == "Shape" || op == "Size");
}

}  // namespace

absl::Status CheckFourBitValues(const std::string& name, const TensorData& bytes) {
  const bool is_signed = bytes.dtype == DataType::kInt8;
  for (const char byte : bytes.bytes) {
    const int value = is_signed ? static_cast<int8_t>(byte) : static_cast<uint8_t>(byte);
    if (is_signed ? value >= -8 && value <= 7 : value <= 15) continue;
    return absl::InvalidArgumentError(
        fmt::format("\"{}\": 4-bit integers from {} were expected, found {}", name,
                    is_signed ? "-8 to 7" : "0 to 15", value));
  }
  return absl::OkStatus();
}

absl::Status CheckFourBitOperands(const NodeReader& node) {
  const std::string op = OperatorOf(node);
  if (Moves(op)) return absl::OkStatus();
  for (size_t i = 0; i < node.size(); ++i) {
    if (!node.Has(i, Trait::kFourBit) || Reads(op, i)) continue;
    return absl::UnimplementedError(
        fmt::format("Hone moves, casts and dequantises 4-bit integers, but \"{}\" goes into "
                    "something else",
                    node.node().inputs[i]));
  }
  return absl::OkStatus();
}

bool MovesFourBit(const NodeReader& node) {
  if (node.node().gives_four_bit) return true;
  if (!Moves(OperatorOf(node))) return false;
  for (size_t i = 0; i < node.size(); ++i) {
    if (node.Has(i, Trait::kFourBit)) return true;
  }
  return false;
}

absl::StatusOr<ir::Expr> ClippedToFourBit(const ir::Expr& bytes) {
  const bool is_signed = DtypeOf(bytes) == DataType::kInt8;
  return Emit("clip", {bytes},
              {{"a_min", is_signed ? -8.0 : 0.0}, {"a_max", is_signed ? 7.0 : 15.0}});
}

absl::StatusOr<ir::Expr> ToFourBit(const ir::Expr& data, DataType bytes) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr byte, CastedTo(data, bytes));
  if (IsFloat(DtypeOf(data))) return ClippedToFourBit(byte);
  if (bytes == DataType::kUInt8) {
    return Emit("bitwise_and", {byte, IntegerConstant(15, bytes)});
  }
  const ir::Expr four = IntegerConstant(4, bytes);
  HONE_ASSIGN_OR_RETURN(const ir::Expr high, Emit("left_shift", {byte, four}));
  return Emit("right_shift", {high, four});
}

}  // namespace hone::frontend
