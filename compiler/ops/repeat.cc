#include "compiler/ops/repeat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "compiler/ir/printer.h"
#include "compiler/ops/call_type.h"
#include "runtime/module_abi.h"
#include "support/status.h"

namespace hone::ops {
namespace {

constexpr int64_t kMostOperands = 1 << 16;

// 0 where it is missing.
absl::StatusOr<int64_t> BoundedInt(const ir::Attrs& attrs, const char* name, int64_t least,
                                   int64_t most) {
  const auto found = attrs.find(name);
  if (found == attrs.end()) return 0;
  const auto* const value = std::get_if<int64_t>(&found->second);
  if (value != nullptr && *value >= least && *value <= most) return *value;
  return absl::InvalidArgumentError(
      fmt::format("a repeat: an integer from {} to {} was expected as attribute {}, found {}",
                  least, most, name, ir::ToText(found->second)));
}

absl::Status Mismatch(const std::string& what, const std::string& expected,
                      const std::string& found) {
  return absl::InvalidArgumentError(
      fmt::format("a repeat: {} was expected to be {}, found {}", what, expected, found));
}

// What holds a row of each trip.
ir::Type Stacked(const Repeat& repeat, const ir::TensorType& row) {
  ir::TensorType type = {{repeat.trips}, row.dtype};
  if (repeat.rows) {
    type.shape.push_back(RowElements(row));
  } else {
    type.shape.insert(type.shape.end(), row.shape.begin(), row.shape.end());
  }
  return {.tensor = std::move(type)};
}

absl::Status CheckOperands(const Repeat& repeat, const ir::Type& function,
                           const std::vector<ir::Type>& args) {
  const size_t params = function.fields.size() - 1;
  if (args.size() != params || static_cast<size_t>(repeat.states + repeat.slices) > params) {
    return Mismatch("the number of its operands",
                    fmt::format("{}, of which {} states and {} "
                                "slices",
                                params, repeat.states, repeat.slices),
                    std::to_string(args.size()));
  }
  for (size_t i = 0; i < params; ++i) {
    const ir::Type& param = function.fields[i];
    if (!param.IsTensor())
      return Mismatch(fmt::format("parameter {}", i), "a tensor", param.ToString());
    const auto slice = static_cast<int64_t>(i) - repeat.states;
    const bool scanned = slice >= 0 && slice < repeat.slices;
    const ir::Type expected = scanned ? Stacked(repeat, param.tensor) : param;
    if (args[i] != expected) {
      return Mismatch(fmt::format("operand {}", i), expected.ToString(), args[i].ToString());
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsRepeat(const ir::ExprNode& node) {
  return node.kind == ir::ExprKind::kCall && node.callee && node.attrs.contains("trips");
}

absl::StatusOr<Repeat> RepeatOf(const ir::Attrs& attrs) {
  Repeat repeat;
  HONE_ASSIGN_OR_RETURN(repeat.trips, BoundedInt(attrs, "trips", 1, kMostTrips));
  HONE_ASSIGN_OR_RETURN(repeat.states, BoundedInt(attrs, "states", 0, kMostOperands));
  HONE_ASSIGN_OR_RETURN(repeat.slices, BoundedInt(attrs, "slices", 0, kMostOperands));
  for (const auto& [name, value] : attrs) {
    if (name == "trips" || name == "states" || name == "slices") continue;
    const auto* const list = std::get_if<std::vector<int64_t>>(&value);
    const auto* const flag = std::get_if<bool>(&value);
    if (name == "backwards" && list != nullptr) {
      repeat.backwards = *list;
    } else if (name == "rows" && flag != nullptr) {
      repeat.rows = *flag;
    } else {
      return Mismatch("its attributes", "trips, states, slices, a list backwards and a bool rows",
                      fmt::format("{}={}", name, ir::ToText(value)));
    }
  }
  return repeat;
}

Repeat RepeatOf(const ir::ExprNode& call) {
  const absl::StatusOr<Repeat> repeat = RepeatOf(call.attrs);
  assert(repeat.ok());
  return *repeat;
}

ir::Attrs AttrsOf(const Repeat& repeat) {
  ir::Attrs attrs = {{"trips", repeat.trips}, {"states", repeat.states}, {"slices", repeat.slices}};
  const bool turns = std::any_of(repeat.backwards.begin(), repeat.backwards.end(),
                                 [](int64_t backwards) { return backwards != 0; });
  if (turns) attrs["backwards"] = repeat.backwards;
  if (repeat.rows) attrs["rows"] = true;
  return attrs;
}

int64_t RowElements(const ir::TensorType& type) {
  const int64_t elements = HONE_BUFFER_ALIGNMENT / SizeBytes(type.dtype);
  return (type.ElementCount() + elements - 1) / elements * elements;
}

absl::StatusOr<ir::Type> RepeatType(const Repeat& repeat, const ir::Type& function,
                                    const std::vector<ir::Type>& args) {
  if (!function.is_function) return Mismatch("what it calls", "a function", function.ToString());
  HONE_RETURN_IF_ERROR(CheckOperands(repeat, function, args));
  const ir::Type& result = function.fields.back();
  if (!result.is_tuple || result.fields.size() < static_cast<size_t>(repeat.states)) {
    return Mismatch("its function's result",
                    fmt::format("a tuple of {} states and what is stacked", repeat.states),
                    result.ToString());
  }
  if (repeat.backwards.size() > static_cast<size_t>(repeat.slices) + repeat.StackCount(function)) {
    return Mismatch("its list backwards", "one entry a slice and a stack",
                    std::to_string(repeat.backwards.size()));
  }
  ir::Type type;
  type.is_tuple = true;
  for (size_t i = 0; i < result.fields.size(); ++i) {
    const ir::Type& field = result.fields[i];
    const bool is_state = i < static_cast<size_t>(repeat.states);
    if (!field.IsTensor() || (is_state && field != function.fields[i])) {
      return Mismatch(fmt::format("field {} of its function's result", i),
                      is_state ? "the state's type " + function.fields[i].ToString() : "a tensor",
                      field.ToString());
    }
    type.fields.push_back(is_state ? field : Stacked(repeat, field.tensor));
  }
  HONE_RETURN_IF_ERROR(CheckSize("a repeat", type));
  return type;
}

}  // namespace hone::ops
