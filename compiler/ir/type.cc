#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

bool Type::HasFunctions() const {
  return is_function ||
         std::any_of(fields.begin(), fields.end(), [](const Type& f) { return f.HasFunctions(); });
}

std::string Type::ToString() const {
  if (IsTensor()) return tensor.ToString();
  std::vector<std::string> texts;
  for (const Type& field : fields) texts.push_back(field.ToString());
  if (is_tuple) return fmt::format("({}{})", fmt::join(texts, ", "), texts.size() == 1 ? "," : "");
  const std::string result = texts.back();
  texts.pop_back();
  return fmt::format("fn ({}) -> {}", fmt::join(texts, ", "), result);
}

}  // namespace hone::ir
