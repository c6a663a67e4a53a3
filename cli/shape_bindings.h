// `--shape NAME=1,3,224,224`: which specialisations of a model are meant.
#ifndef HONE_CLI_SHAPE_BINDINGS_H_
#define HONE_CLI_SHAPE_BINDINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::cli {

// Shapes of inputs by name.
using ShapeBindings = std::map<std::string, std::vector<int64_t>>;

// One entry a specialisation, at least one: the i-th --shape of every input makes the i-th, and an
// input with a single one has it in all. kInvalidArgument with exit code 2 for what is no binding,
// for inputs with different numbers of them, and for two specialisations that are the same.
absl::StatusOr<std::vector<ShapeBindings>> ParseShapes(const std::vector<std::string>& texts);

// The same where there can be one specialisation only; `what` takes it, for the message.
absl::StatusOr<ShapeBindings> ParseOneShape(const std::vector<std::string>& texts,
                                            const std::string& what);

// "x=1,3,224,224 mask=1,128", as the flags have it.
std::string BindingsText(const ShapeBindings& shapes);

}  // namespace hone::cli

#endif  // HONE_CLI_SHAPE_BINDINGS_H_
