#include "compiler/ops/type_budget.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::ops {
namespace {

constexpr int kMaxTypeNesting = 200;

struct TypeSize {
  int64_t fields = 0;  // those of its fields, too
  int nesting = 0;
};

TypeSize SizeOf(const ir::Type& type) {
  TypeSize size;
  for (const ir::Type& field : type.fields) {
    const TypeSize inner = SizeOf(field);
    size.fields += 1 + inner.fields;
    size.nesting = std::max(size.nesting, inner.nesting + 1);
  }
  return size;
}

}  // namespace

absl::Status TypeBudget::Charge(const ir::Type& type) {
  const TypeSize size = SizeOf(type);
  if (size.nesting > kMaxTypeNesting) {
    return absl::InvalidArgumentError(
        fmt::format("tuples at most {} deep were expected, found more", kMaxTypeNesting));
  }
  fields_left_ -= size.fields;
  if (fields_left_ >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError("the tuples of the module have too many fields in all");
}

}  // namespace hone::ops
