#include "compiler/frontend/tensorflow/node_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

int64_t CountOf(const ir::Expr& e) {
  return e->type->IsTensor() ? e->type->tensor.ElementCount() : 1;
}

// What a file may have computed at import is bounded as the memory is that it may ask for: a byte
// for each pair of an element and one of an operand.
absl::Status ChargeEvaluation(const ir::Expr& e, Allowance& allowance) {
  constexpr int64_t kMostElements = 1 << 14;
  if (e->kind == ir::ExprKind::kConstant) return absl::OkStatus();
  for (const ir::Expr& node : ir::PostOrder(e)) {
    if (node->kind != ir::ExprKind::kCall) continue;
    int64_t most = 64;
    for (const ir::Expr& arg : node->args) most = std::max(most, CountOf(arg));
    if (CountOf(node) > kMostElements || most > kMostElements) {
      return absl::UnimplementedError("it wants a tensor that is too large to compute at import");
    }
    HONE_RETURN_IF_ERROR(allowance.Take(CountOf(node) * most));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Value> NodeReader::Arg(size_t i, std::string_view what) const {
  if (i < args_.size()) return args_[i];
  return absl::InvalidArgumentError(fmt::format("operand {} ({}) is missing", i, what));
}

absl::StatusOr<ir::Expr> NodeReader::Given(size_t i, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const Value value, Arg(i, what));
  return layouts_.AsGiven(value);
}

absl::StatusOr<ir::Expr> NodeReader::Charged(size_t i, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, Given(i, what));
  const std::vector<ir::Expr> nodes = ir::PostOrder(e);
  const bool known = std::none_of(nodes.begin(), nodes.end(), [](const ir::Expr& node) {
    return node->kind == ir::ExprKind::kVar;
  });
  if (known) HONE_RETURN_IF_ERROR(ChargeEvaluation(e, layouts_.allowance()));
  return e;
}

absl::StatusOr<ir::AttrValue> NodeReader::Number(size_t i, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, Charged(i, what));
  return ConstantNumber(e, what);
}

absl::StatusOr<Shape> NodeReader::Ints(size_t i, std::string_view what) {
  constexpr int64_t kMost = 1 << 16;  // elements, enough for axes and shapes
  constexpr int64_t kLargest = 9e15;  // so that sums of a few stay in range
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, Given(i, what));
  if (IsFloat(DtypeOf(e)) || e->type->tensor.ElementCount() > kMost) {
    return absl::InvalidArgumentError(
        fmt::format("{} was expected to be integers, found {}", what, e->type->ToString()));
  }
  HONE_RETURN_IF_ERROR(Charged(i, what).status());
  HONE_ASSIGN_OR_RETURN(Shape values, ConstantIntegers(e, what));
  for (const int64_t value : values) {
    if (value < -kLargest || value > kLargest) {
      return absl::InvalidArgumentError(
          fmt::format("{} holds {}, which is too large", what, value));
    }
  }
  return values;
}

absl::StatusOr<int64_t> NodeReader::OneInt(size_t i, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const Shape values, Ints(i, what));
  if (values.size() == 1) return values[0];
  return absl::InvalidArgumentError(
      fmt::format("{} was expected to be one number, found {}", what, values.size()));
}

absl::StatusOr<int64_t> NodeReader::Axis(size_t i, int64_t rank) {
  HONE_ASSIGN_OR_RETURN(const int64_t axis, OneInt(i, "the axis"));
  return AxisOf(axis, rank);
}

const Attr* NodeReader::Raw(const std::string& name) {
  read_.insert(name);
  const auto it = node_.attrs.find(name);
  return it == node_.attrs.end() ? nullptr : &it->second;
}

template <typename T>
absl::StatusOr<T> NodeReader::Get(const std::string& name, T fallback, std::string_view kind) {
  const Attr* const attr = Raw(name);
  if (attr == nullptr) return fallback;
  if (const T* const value = std::get_if<T>(attr)) return *value;
  return absl::InvalidArgumentError(fmt::format("attribute {} was expected to be {}", name, kind));
}

absl::StatusOr<int64_t> NodeReader::IntAttr(const std::string& name, int64_t fallback) {
  return Get<int64_t>(name, fallback, "an integer");
}

absl::StatusOr<double> NodeReader::FloatAttr(const std::string& name, double fallback) {
  if (Raw(name) == nullptr) return fallback;
  HONE_ASSIGN_OR_RETURN(const float value, Get<float>(name, 0, "a float"));
  // The double that a person would have written: 1e-05, not 9.999999747378752e-06. As float32 they
  // are one number; as text they would be two workloads.
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

absl::StatusOr<bool> NodeReader::BoolAttr(const std::string& name, bool fallback) {
  return Get<bool>(name, fallback, "a bool");
}

absl::StatusOr<std::string> NodeReader::StringAttr(const std::string& name,
                                                   const std::string& fallback) {
  return Get<std::string>(name, fallback, "a string");
}

absl::StatusOr<Shape> NodeReader::IntsAttr(const std::string& name, const Shape& fallback) {
  return Get<Shape>(name, fallback, "a list of integers");
}

absl::StatusOr<DataType> NodeReader::TypeAttrOf(const std::string& name, int fallback) {
  HONE_ASSIGN_OR_RETURN(const TypeAttr type, Get<TypeAttr>(name, {fallback}, "an element type"));
  return FromTypeNumber(type.number);
}

absl::Status NodeReader::CheckAllRead() const {
  for (const auto& [name, attr] : node_.attrs) {
    if (read_.contains(name) || name.starts_with("_")) continue;
    if (std::holds_alternative<TypeAttr>(attr)) continue;
    return absl::UnimplementedError(fmt::format("Hone does not know its attribute {}", name));
  }
  return absl::OkStatus();
}

}  // namespace hone::frontend::tf
