#include "compiler/ops/attrs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hone::ops {
namespace {

std::string_view KindName(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt:
      return "an integer";
    case AttrKind::kFloat:
      return "a float";
    case AttrKind::kBool:
      return "a bool";
    case AttrKind::kString:
      return "a string";
    case AttrKind::kDataType:
      return "an element type";
    case AttrKind::kInts:
      return "a list of integers";
  }
  return "?";
}

std::string_view HeldKind(const ir::AttrValue& value) {
  constexpr std::string_view kNames[] = {
      "an integer",         "a float",          "a bool",           "a string", "an element type",
      "a list of integers", "a list of floats", "a list of strings"};
  return kNames[value.index()];
}

template <typename T>
bool IsEmptyList(const ir::AttrValue& value) {
  const auto* list = std::get_if<std::vector<T>>(&value);
  return list != nullptr && list->empty();
}

bool Holds(const ir::AttrValue& value, AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt:
      return std::holds_alternative<int64_t>(value);
    case AttrKind::kFloat:
      return std::holds_alternative<double>(value) || std::holds_alternative<int64_t>(value);
    case AttrKind::kBool:
      return std::holds_alternative<bool>(value);
    case AttrKind::kString:
      return std::holds_alternative<std::string>(value);
    case AttrKind::kDataType: {
      const auto* text = std::get_if<std::string>(&value);
      return std::holds_alternative<DataType>(value) ||
             (text != nullptr && ParseDataType(*text).has_value());
    }
    case AttrKind::kInts:
      return std::holds_alternative<std::vector<int64_t>>(value) ||
             std::holds_alternative<int64_t>(value) || IsEmptyList<double>(value) ||
             IsEmptyList<std::string>(value);
  }
  return false;
}

const ir::AttrValue* Find(const ir::Attrs& attrs, const std::string& name) {
  const auto it = attrs.find(name);
  return it == attrs.end() ? nullptr : &it->second;
}

}  // namespace

absl::Status CheckAttrs(const Op& op, const ir::Attrs& attrs) {
  for (const auto& [name, value] : attrs) {
    const auto spec = std::find_if(op.attrs.begin(), op.attrs.end(),
                                   [&](const AttrSpec& s) { return s.name == name; });
    if (spec == op.attrs.end()) {
      std::vector<std::string> known;
      for (const AttrSpec& s : op.attrs) known.push_back(s.name);
      return absl::InvalidArgumentError(
          fmt::format("{}: unknown attribute {}; it has {}", op.name, name,
                      known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
    if (!Holds(value, spec->kind)) {
      return absl::InvalidArgumentError(fmt::format("{}: attribute {}: expected {}, found {}",
                                                    op.name, name, KindName(spec->kind),
                                                    HeldKind(value)));
    }
  }
  for (const AttrSpec& spec : op.attrs) {
    if (spec.required && !attrs.contains(spec.name)) {
      return absl::InvalidArgumentError(fmt::format("{}: attribute {} is missing: expected {}",
                                                    op.name, spec.name, KindName(spec.kind)));
    }
  }
  return absl::OkStatus();
}

double FloatAttr(const ir::Attrs& attrs, const std::string& name, double fallback) {
  const ir::AttrValue* value = Find(attrs, name);
  if (value == nullptr) return fallback;
  if (const auto* i = std::get_if<int64_t>(value)) return static_cast<double>(*i);
  return std::get<double>(*value);
}

int64_t IntAttr(const ir::Attrs& attrs, const std::string& name, int64_t fallback) {
  return ir::GetAttr<int64_t>(attrs, name, fallback);
}

bool BoolAttr(const ir::Attrs& attrs, const std::string& name, bool fallback) {
  return ir::GetAttr<bool>(attrs, name, fallback);
}

std::string StringAttr(const ir::Attrs& attrs, const std::string& name, std::string fallback) {
  return ir::GetAttr<std::string>(attrs, name, std::move(fallback));
}

DataType DataTypeAttr(const ir::Attrs& attrs, const std::string& name, DataType fallback) {
  const ir::AttrValue* value = Find(attrs, name);
  if (value == nullptr) return fallback;
  if (const auto* text = std::get_if<std::string>(value)) return *ParseDataType(*text);
  return std::get<DataType>(*value);
}

std::vector<int64_t> IntsAttr(const ir::Attrs& attrs, const std::string& name,
                              std::vector<int64_t> fallback) {
  const ir::AttrValue* value = Find(attrs, name);
  if (value == nullptr) return fallback;
  if (const auto* i = std::get_if<int64_t>(value)) return {*i};
  if (const auto* list = std::get_if<std::vector<int64_t>>(value)) return *list;
  return {};
}

std::optional<std::vector<std::string>> StringsAttr(const ir::Attrs& attrs,
                                                    const std::string& name) {
  const ir::AttrValue* value = Find(attrs, name);
  if (value == nullptr || IsEmptyList<int64_t>(*value) || IsEmptyList<double>(*value)) {
    return std::vector<std::string>();
  }
  const auto* list = std::get_if<std::vector<std::string>>(value);
  return list == nullptr ? std::nullopt : std::optional(*list);
}

}  // namespace hone::ops
