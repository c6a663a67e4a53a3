#include "compiler/frontend/onnx/graph_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/cord.h"
#include "compiler/frontend/onnx/sparse_tensor.h"
#include "compiler/frontend/tensor_size.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/evaluate.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr int64_t kMostFolded = 1024;                            // elements
constexpr char kInputsNeeded[] = "hone.frontend.inputs_needed";  // names, each with a NUL behind

bool IsSmallIntConstant(const ir::Expr& e) {
  return e->kind == ir::ExprKind::kConstant && !IsFloat(DtypeOf(e)) &&
         e->type->tensor.ElementCount() <= kMostFolded;
}

bool AllSmallIntConstants(const std::vector<ir::Expr>& args) {
  return std::all_of(args.begin(), args.end(), [](const ir::Expr& arg) {
    return arg->kind == ir::ExprKind::kTuple ? AllSmallIntConstants(arg->args)
                                             : IsSmallIntConstant(arg);
  });
}

template <typename T>
std::vector<int64_t> ReadInts(const ir::ExprNode& constant) {
  std::vector<T> values(constant.data.size_bytes() / sizeof(T));
  if (values.empty()) return {};
  std::memcpy(values.data(), constant.data.bytes(), values.size() * sizeof(T));
  return std::vector<int64_t>(values.begin(), values.end());
}

// The nearest number that the type has; 0 for a NaN. What files ask for need not fit.
template <typename T>
T Nearest(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(value)) return 0;
    if (value >= static_cast<double>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
    if (value <= static_cast<double>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

template <typename T>
std::string Repeat(double value, int64_t count) {
  const T element = Nearest<T>(value);
  std::string bytes(count * sizeof(T), '\0');
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

std::string RepeatAs(DataType dtype, double value, int64_t count) {
  switch (dtype) {
    case DataType::kFloat32:
      return Repeat<float>(value, count);
    case DataType::kFloat64:
      return Repeat<double>(value, count);
    case DataType::kInt64:
      return Repeat<int64_t>(value, count);
    case DataType::kInt32:
      return Repeat<int32_t>(value, count);
    case DataType::kInt16:
      return Repeat<int16_t>(value, count);
    case DataType::kInt8:
      return Repeat<int8_t>(value, count);
    case DataType::kUInt64:
      return Repeat<uint64_t>(value, count);
    case DataType::kUInt32:
      return Repeat<uint32_t>(value, count);
    case DataType::kUInt16:
      return Repeat<uint16_t>(value, count);
    default:
      return Repeat<uint8_t>(value, count);
  }
}

}  // namespace

absl::StatusOr<ir::Expr> Emit(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs) {
  const bool fold = AllSmallIntConstants(args);
  HONE_ASSIGN_OR_RETURN(ir::Expr call, ops::TypedCall(op, std::move(args), std::move(attrs)));
  if (!fold || call->type->is_tuple || call->type->tensor.ElementCount() > kMostFolded) return call;
  // What has no value (an index out of range) stays a call, and is an error only to those who need
  // it.
  absl::StatusOr<ir::Expr> value = ops::Evaluate(call);
  return value.ok() ? *std::move(value) : call;
}

const Shape& ShapeOf(const ir::Expr& e) { return e->type->tensor.shape; }
DataType DtypeOf(const ir::Expr& e) { return e->type->tensor.dtype; }

ir::Expr IntsConstant(const std::vector<int64_t>& values) {
  return ir::ConstantFromBytes({{static_cast<int64_t>(values.size())}, DataType::kInt64},
                               values.data());
}

ir::Expr IntegerConstant(int64_t value, DataType dtype) {
  if (dtype == DataType::kInt64) return ir::ConstantFromBytes({{}, dtype}, &value);
  return ScalarConstant(static_cast<double>(value), dtype);
}

ir::Expr ScalarConstant(double value, DataType dtype, Shape shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  if (dtype == DataType::kFloat16 || dtype == DataType::kBFloat16) {
    const ir::Expr wide = ScalarConstant(value, DataType::kFloat32, shape);
    absl::StatusOr<ir::Expr> call = ops::TypedCall("cast", {wide}, {{"dtype", dtype}});
    if (absl::StatusOr<ir::Expr> folded = ops::Evaluate(*call); folded.ok()) return *folded;
    return *call;
  }
  return MakeConstant(std::move(shape), dtype, RepeatAs(dtype, value, count));
}

absl::Status NeedsValue(const ir::Expr& e, const std::string& message) {
  std::vector<std::string> names;
  std::string payload;
  for (const ir::Expr& node : ir::PostOrder(e)) {
    if (node->kind != ir::ExprKind::kVar) continue;
    names.push_back(node->name);
    payload += node->name + '\0';
  }
  if (names.empty()) return absl::UnimplementedError(message);
  absl::Status status = absl::UnimplementedError(
      fmt::format("{}; it is computed from the input(s) {}: give their values with --constant "
                  "NAME=FILE",
                  message, fmt::join(names, ", ")));
  status.SetPayload(kInputsNeeded, absl::Cord(absl::string_view(payload.data(), payload.size())));
  return status;
}

std::vector<std::string> InputsNeeded(const absl::Status& status) {
  std::vector<std::string> names;
  const auto payload = status.GetPayload(kInputsNeeded);
  if (!payload) return names;
  const std::string joined(*payload);
  for (size_t begin = 0; begin < joined.size();) {
    const size_t end = joined.find('\0', begin);
    names.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::string FirstResult(const OnnxNode& node) {
  return node.outputs.empty() ? "" : node.outputs[0];
}

absl::Status Reworded(const absl::Status& status, const std::string& message) {
  absl::Status result(status.code(), message);
  if (const auto payload = status.GetPayload(kInputsNeeded)) {
    result.SetPayload(kInputsNeeded, *payload);
  }
  return result;
}

absl::Status Prefixed(const std::string& prefix, const absl::Status& status) {
  return Reworded(status, fmt::format("{}: {}", prefix, std::string(status.message())));
}

absl::StatusOr<ir::Expr> NodeReader::Arg(size_t i, std::string_view what) const {
  if (Has(i)) return args_[i];
  return absl::InvalidArgumentError(fmt::format("operand {} ({}) is missing", i, what));
}

absl::StatusOr<ir::Expr> NodeReader::Constant(size_t i, std::string_view what) const {
  HONE_ASSIGN_OR_RETURN(ir::Expr arg, Arg(i, what));
  if (arg->kind == ir::ExprKind::kConstant) return arg;
  const std::vector<ir::Expr> nodes = ir::PostOrder(arg);
  const bool is_known = std::none_of(nodes.begin(), nodes.end(), [](const ir::Expr& node) {
    return node->kind == ir::ExprKind::kVar;
  });
  if (is_known) return ops::Evaluate(arg);
  return NeedsValue(arg, fmt::format("{} must be known at compile time", what));
}

absl::StatusOr<std::vector<int64_t>> NodeReader::ConstantInts(size_t i,
                                                              std::string_view what) const {
  HONE_ASSIGN_OR_RETURN(const ir::Expr arg, Constant(i, what));
  switch (DtypeOf(arg)) {
    case DataType::kInt64:
      return ReadInts<int64_t>(*arg);
    case DataType::kInt32:
      return ReadInts<int32_t>(*arg);
    default:
      return absl::InvalidArgumentError(
          fmt::format("{} was expected to be integers, found {}", what, arg->type->ToString()));
  }
}

absl::StatusOr<double> NodeReader::ConstantScalar(size_t i, std::string_view what) const {
  HONE_ASSIGN_OR_RETURN(ir::Expr arg, Constant(i, what));
  if (arg->type->tensor.ElementCount() != 1) {
    return absl::InvalidArgumentError(
        fmt::format("{} was expected to be one number, found {}", what, arg->type->ToString()));
  }
  if (DtypeOf(arg) == DataType::kFloat16 || DtypeOf(arg) == DataType::kBFloat16) {
    HONE_ASSIGN_OR_RETURN(arg, ops::TypedCall("cast", {arg}, {{"dtype", DataType::kFloat32}}));
    HONE_ASSIGN_OR_RETURN(arg, ops::Evaluate(arg));
  }
  if (DtypeOf(arg) == DataType::kFloat32) {
    float value;
    std::memcpy(&value, arg->data.bytes(), sizeof value);
    return value;
  }
  if (DtypeOf(arg) == DataType::kFloat64) {
    double value;
    std::memcpy(&value, arg->data.bytes(), sizeof value);
    return value;
  }
  if (DtypeOf(arg) == DataType::kInt8) return static_cast<double>(ReadInts<int8_t>(*arg)[0]);
  if (DtypeOf(arg) == DataType::kInt16) return static_cast<double>(ReadInts<int16_t>(*arg)[0]);
  if (DtypeOf(arg) == DataType::kInt32) return static_cast<double>(ReadInts<int32_t>(*arg)[0]);
  if (DtypeOf(arg) == DataType::kInt64) return static_cast<double>(ReadInts<int64_t>(*arg)[0]);
  if (DtypeOf(arg) == DataType::kUInt16) return static_cast<double>(ReadInts<uint16_t>(*arg)[0]);
  if (DtypeOf(arg) == DataType::kUInt32) return static_cast<double>(ReadInts<uint32_t>(*arg)[0]);
  if (DtypeOf(arg) == DataType::kUInt64) {
    return static_cast<double>(static_cast<uint64_t>(ReadInts<uint64_t>(*arg)[0]));
  }
  return static_cast<double>(ReadInts<uint8_t>(*arg)[0]);
}

const OnnxAttr* NodeReader::Raw(const std::string& name) {
  read_.insert(name);
  const auto it = node_.attrs.find(name);
  return it == node_.attrs.end() ? nullptr : &it->second;
}

bool NodeReader::HasAttr(const std::string& name) { return Raw(name) != nullptr; }

template <typename T>
absl::StatusOr<T> NodeReader::Get(const std::string& name, T fallback, std::string_view kind) {
  const OnnxAttr* attr = Raw(name);
  if (attr == nullptr) return fallback;
  if (const T* value = std::get_if<T>(attr)) return *value;
  return absl::InvalidArgumentError(fmt::format("attribute {} was expected to be {}", name, kind));
}

absl::StatusOr<int64_t> NodeReader::Int(const std::string& name, int64_t fallback) {
  return Get<int64_t>(name, fallback, "an integer");
}

absl::StatusOr<double> NodeReader::Float(const std::string& name, double fallback) {
  if (!HasAttr(name)) return fallback;
  HONE_ASSIGN_OR_RETURN(const float value, Get<float>(name, 0, "a float"));
  // The double that a person would have written: 1e-05, not 9.999999747378752e-06. As float32 they
  // are one number; as text they would be two workloads.
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

absl::StatusOr<std::string> NodeReader::String(const std::string& name,
                                               const std::string& fallback) {
  return Get<std::string>(name, fallback, "a string");
}

absl::StatusOr<std::vector<int64_t>> NodeReader::Ints(const std::string& name,
                                                      std::vector<int64_t> fallback) {
  return Get<std::vector<int64_t>>(name, std::move(fallback), "a list of integers");
}

absl::StatusOr<std::vector<float>> NodeReader::Floats(const std::string& name) {
  const OnnxAttr* const raw = Raw(name);
  if (raw == nullptr) return std::vector<float>();
  if (const auto* const values = std::get_if<std::vector<float>>(raw)) return *values;
  return absl::InvalidArgumentError(fmt::format("attribute {} was expected to be floats", name));
}

absl::StatusOr<ir::Expr> NodeReader::Tensor(const std::string& name) {
  HONE_ASSIGN_OR_RETURN(ir::Expr tensor, Get<ir::Expr>(name, nullptr, "a tensor"));
  if (tensor) return tensor;
  return absl::InvalidArgumentError(fmt::format("attribute {} is missing", name));
}

absl::StatusOr<std::optional<std::vector<int64_t>>> NodeReader::IntsAttrOrArg(
    const std::string& name, size_t i) {
  std::optional<std::vector<int64_t>> result;
  if (HasAttr(name)) {
    HONE_ASSIGN_OR_RETURN(result, Ints(name));
  } else if (Has(i)) {
    HONE_ASSIGN_OR_RETURN(result, ConstantInts(i, name));
  }
  return result;
}

absl::Status NodeReader::BindSparse(size_t i, std::shared_ptr<const SparseInitializer> value) {
  sparse_[i] = std::move(value);
  return node_.op == "MatMul" ? absl::OkStatus() : Densify(i);
}

absl::Status NodeReader::Densify(size_t i) {
  const SparseInitializer& sparse = *sparse_.at(i);
  HONE_RETURN_IF_ERROR(Generate(sparse.type.SizeBytes()));
  args_[i] = DenseConstant(sparse);
  sparse_.erase(i);
  return absl::OkStatus();
}

const SparseInitializer* NodeReader::Sparse(size_t i) const {
  const auto it = sparse_.find(i);
  return it == sparse_.end() ? nullptr : it->second.get();
}

absl::Status NodeReader::Generate(int64_t bytes) { return allowance_->Take(bytes); }

absl::Status NodeReader::Unroll(int64_t nodes) {
  constexpr int64_t kBytesPerNode = 8 << 10;
  int64_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(nodes, kBytesPerNode, &bytes);
  if (fits && Generate(bytes).ok()) return absl::OkStatus();
  return absl::UnimplementedError("unrolling it would make the model too large");
}

absl::Status NodeReader::CheckAllRead() const {
  for (const auto& [name, value] : node_.attrs) {
    // Before opset 6 a hint which operands may be overwritten, on many operators.
    if (name == "consumed_inputs" && opset_ < 6) continue;
    if (!read_.contains(name)) {
      return absl::UnimplementedError(fmt::format("Hone does not know its attribute {}", name));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::frontend
