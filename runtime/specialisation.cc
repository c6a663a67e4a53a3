#include "runtime/specialisation.h"

namespace hone {

InputShape ShapeOf(const hone_value& value) { return {value.shape, value.shape + value.rank}; }

std::optional<uint32_t> FindSpecialisation(const hone_module& table,
                                           const std::vector<std::optional<InputShape>>& shapes) {
  for (uint32_t f = 0; f < table.function_count; ++f) {
    bool fits = true;
    for (uint32_t i = 0; fits && i < table.functions[f].input_count && i < shapes.size(); ++i) {
      fits = !shapes[i] || *shapes[i] == ShapeOf(table.functions[f].inputs[i]);
    }
    if (fits) return f;
  }
  return std::nullopt;
}

std::string ShapesText(const hone_function& function) {
  std::string text;
  for (uint32_t i = 0; i < function.input_count; ++i) {
    const hone_value& input = function.inputs[i];
    text += (i == 0 ? "" : " ") + std::string(input.name) + "=";
    for (uint32_t axis = 0; axis < input.rank; ++axis) {
      text += (axis == 0 ? "" : ",") + std::to_string(input.shape[axis]);
    }
  }
  return text;
}

std::string ShapesText(const hone_module& table) {
  std::string text;
  for (uint32_t f = 0; f < table.function_count; ++f) {
    text += (f == 0 ? "" : " or ") + ShapesText(table.functions[f]);
  }
  return text;
}

}  // namespace hone
