// Finds the specialisation of a module that fits given shapes of its inputs.
#ifndef HONE_RUNTIME_SPECIALISATION_H_
#define HONE_RUNTIME_SPECIALISATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/module_abi.h"

namespace hone {

using InputShape = std::vector<int64_t>;

InputShape ShapeOf(const hone_value& value);

// The first function of the module whose inputs have these shapes; nullopt if there is none.
// `shapes` has one entry for each input, and an entry without a shape fits every function.
std::optional<uint32_t> FindSpecialisation(const hone_module& table,
                                           const std::vector<std::optional<InputShape>>& shapes);

// The shapes of a function's inputs: "x=1,3,224,224 mask=1,128", in the notation of --shape.
std::string ShapesText(const hone_function& function);
// The shapes of all functions: "x=1,8 or x=4,8".
std::string ShapesText(const hone_module& table);

}  // namespace hone

#endif  // HONE_RUNTIME_SPECIALISATION_H_
