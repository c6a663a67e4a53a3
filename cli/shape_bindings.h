// Reads `--shape NAME=1,3,224,224` and `--dim NAME=4`, which say which specialisations of a model
// are meant.
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

// Numbers for symbolic extents by name.
using DimBindings = std::map<std::string, int64_t>;

struct Specialisation {
  ShapeBindings shapes;
  DimBindings dims;
  bool operator==(const Specialisation&) const = default;
};

// Returns the specialisations that the flags ask for, at least one. The i-th --shape of every input
// and the i-th --dim of every symbol make the i-th; an input or symbol that is given once has the
// same in all. kInvalidArgument with exit code 2 for a text that is not a binding, for inputs or
// symbols with different numbers of bindings, and for two specialisations that are the same.
absl::StatusOr<std::vector<Specialisation>> ParseSpecialisations(
    const std::vector<std::string>& shapes, const std::vector<std::string>& dims);

// As ParseSpecialisations, for callers that take only one specialisation; `what` names the caller
// in the message.
absl::StatusOr<Specialisation> ParseOneSpecialisation(const std::vector<std::string>& shapes,
                                                      const std::vector<std::string>& dims,
                                                      const std::string& what);

// "x=1,3,224,224 mask=1,128", as the flags have it.
std::string BindingsText(const ShapeBindings& shapes);

}  // namespace hone::cli

#endif  // HONE_CLI_SHAPE_BINDINGS_H_
