#include "compiler/ir/type_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/ir/limits.h"
#include "support/status.h"

namespace hone::ir {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 46;

}  // namespace

absl::StatusOr<std::string> TypeParser::NameOrString(std::string_view what) {
  if (scan_.Peek() == '"') return scan_.ExpectString();
  const std::string_view name = scan_.TakeName(/*dots=*/false);
  if (name.empty()) return scan_.Error(what);
  return std::string(name);
}

absl::StatusOr<Type> TypeParser::ParseType() {
  HONE_RETURN_IF_ERROR(Enter());
  absl::StatusOr<Type> type = TypeInside();
  --nesting_;
  return type;
}

absl::StatusOr<Type> TypeParser::TypeInside() {
  if (scan_.Take("(")) return TupleType();
  if (scan_.TakeWord("fn")) return FunctionType();
  const size_t start = (scan_.SkipSpace(), scan_.position());
  if (scan_.TakeWord("Tensor")) return TensorTypeRest();
  const std::optional<DataType> dtype = ParseDataType(scan_.TakeName(/*dots=*/false));
  if (!dtype)
    return scan_.ErrorAt(start, "a type: Tensor[(1, 2), float32], float32, a tuple or a function");
  return Type{.tensor = {{}, *dtype}};
}

absl::StatusOr<Type> TypeParser::TupleType() {
  Type type{.is_tuple = true};
  while (!scan_.Take(")")) {
    HONE_ASSIGN_OR_RETURN(Type field, ParseType());
    type.fields.push_back(std::move(field));
    if (!scan_.Take(",") && scan_.Peek() != ')') return scan_.Error("',' or ')' in a tuple type");
  }
  return type;
}

absl::StatusOr<Type> TypeParser::FunctionType() {
  HONE_RETURN_IF_ERROR(scan_.Expect("(", "before the types of parameters"));
  HONE_ASSIGN_OR_RETURN(Type type, TupleType());
  HONE_RETURN_IF_ERROR(scan_.Expect("->", "before the type of a result"));
  HONE_ASSIGN_OR_RETURN(Type result, ParseType());
  type.fields.push_back(std::move(result));
  type.is_tuple = false;
  type.is_function = true;
  return type;
}

absl::StatusOr<Type> TypeParser::TensorTypeRest() {
  Type type;
  HONE_RETURN_IF_ERROR(scan_.Expect("[", "after 'Tensor'"));
  HONE_RETURN_IF_ERROR(scan_.Expect("(", "before a shape"));
  const size_t start = scan_.position();
  while (!scan_.Take(")")) {
    HONE_ASSIGN_OR_RETURN(int64_t extent, scan_.ExpectInteger("an extent"));
    type.tensor.shape.push_back(extent);
    if (type.tensor.shape.size() > kMaxRank) {
      return scan_.FailAt(start,
                          fmt::format("a shape has at most {} extents: join some", kMaxRank));
    }
    if (!scan_.Take(",") && scan_.Peek() != ')') return scan_.Error("',' or ')' in a shape");
  }
  HONE_RETURN_IF_ERROR(scan_.Expect(",", "after a shape"));
  const size_t name = (scan_.SkipSpace(), scan_.position());
  const std::optional<DataType> dtype = ParseDataType(scan_.TakeName(/*dots=*/false));
  if (!dtype) return scan_.ErrorAt(name, "an element type such as float32");
  type.tensor.dtype = *dtype;
  HONE_RETURN_IF_ERROR(scan_.Expect("]", "after a tensor type"));
  int64_t bytes = SizeBytes(*dtype);
  for (int64_t extent : type.tensor.shape) {
    if (extent < 0 || (extent > 0 && bytes > kMaxBytes / extent)) {
      return scan_.FailAt(start,
                          "a shape's extents must not be negative, nor its size over 64 TiB");
    }
    bytes *= std::max<int64_t>(extent, 1);
  }
  return type;
}

absl::Status TypeParser::Enter() {
  if (++nesting_ <= kMaxNesting) return absl::OkStatus();
  --nesting_;
  return scan_.FailAt(scan_.position(),
                      fmt::format("nested deeper than {} levels; name inner values with "
                                  "'%0 = ...;' statements",
                                  kMaxNesting));
}

}  // namespace hone::ir
