#include "compiler/ir/attribute_parser.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "support/status.h"

namespace hone::ir {
namespace {

template <typename T>
bool Append(AttrValue* list, AttrValue item, bool first) {
  if (!std::holds_alternative<T>(item)) return false;
  if (first) *list = std::vector<T>();
  auto* items = std::get_if<std::vector<T>>(list);
  if (items == nullptr) return false;
  items->push_back(std::get<T>(std::move(item)));
  return true;
}

}  // namespace

absl::StatusOr<AttrValue> AttributeParser::Attribute() {
  const char c = scan_.Peek();
  const size_t start = scan_.position();
  if (c == '"') return scan_.ExpectString();
  if (c == '[') return AttributeList();
  const std::string_view number = scan_.TakeNumber();
  if (!number.empty()) return Number(number, start);
  if (scan_.Take("-inf")) return -std::numeric_limits<double>::infinity();
  const std::string_view word = scan_.TakeName(/*dots=*/false);
  if (word == "true") return true;
  if (word == "false") return false;
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "floats" && scan_.Take("[")) {
    HONE_RETURN_IF_ERROR(scan_.Expect("]", "of an empty list"));
    return std::vector<double>();
  }
  if (word == "strings" && scan_.Take("[")) {
    HONE_RETURN_IF_ERROR(scan_.Expect("]", "of an empty list"));
    return std::vector<std::string>();
  }
  if (const auto dtype = ParseDataType(word)) return *dtype;
  return scan_.ErrorAt(start, "the value of an attribute");
}

absl::StatusOr<AttrValue> AttributeParser::Number(std::string_view digits, size_t start) {
  if (digits.find_first_of(".eE") == std::string_view::npos) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc()) return scan_.ErrorAt(start, "an integer of 64 bits");
    return value;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc()) return scan_.ErrorAt(start, "a number that a double can hold");
  return value;
}

absl::StatusOr<AttrValue> AttributeParser::AttributeList() {
  HONE_RETURN_IF_ERROR(scan_.Expect("[", "of a list"));
  AttrValue list = std::vector<int64_t>();
  for (bool first = true; !scan_.Take("]"); first = false) {
    const size_t start = scan_.position();
    if (scan_.Peek() == '[') return scan_.Error("a number or a string");
    HONE_ASSIGN_OR_RETURN(AttrValue item, Attribute());
    if (!Append<int64_t>(&list, item, first) && !Append<double>(&list, item, first) &&
        !Append<std::string>(&list, item, first)) {
      return scan_.ErrorAt(start, "an item of the kind of the list's first");
    }
    if (!scan_.Take(",") && scan_.Peek() != ']') return scan_.Error("',' or ']' in a list");
  }
  return list;
}

absl::StatusOr<bool> AttributeParser::AttributeName(std::string* name) {
  const char c = scan_.Peek();
  const size_t start = scan_.position();
  if (c == '"') {
    HONE_ASSIGN_OR_RETURN(*name, scan_.ExpectString());
  } else {
    *name = std::string(scan_.TakeName(/*dots=*/false));
  }
  if (!name->empty() && scan_.Take("=")) return true;
  scan_.Seek(start);
  return false;
}

absl::Status AttributeParser::AttributeInto(Attrs* attrs, const std::string& name, size_t start) {
  HONE_ASSIGN_OR_RETURN(AttrValue value, Attribute());
  if (attrs->emplace(name, std::move(value)).second) return absl::OkStatus();
  return scan_.FailAt(start, fmt::format("attribute {} is given twice", name));
}

}  // namespace hone::ir
