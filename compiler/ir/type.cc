#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ir/expr.h"

namespace hone::ir {

int64_t TensorType::ElementCount() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

int64_t TensorType::SizeBytes() const { return ElementCount() * hone::SizeBytes(dtype); }

std::string TensorType::ToString() const {
  if (shape.empty()) return std::string(Name(dtype));
  return fmt::format("Tensor[({}), {}]", fmt::join(shape, ", "), Name(dtype));
}

std::string Type::ToString() const {
  if (!is_tuple) return tensor.ToString();
  std::string text = "(";
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) text += ", ";
    text += fields[i].ToString();
  }
  return text + (fields.size() == 1 ? ",)" : ")");
}

}  // namespace hone::ir
