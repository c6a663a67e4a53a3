// Built-in models, made from nothing but a name: their weights come from a fixed seed, scaled so
// that activations keep their size and outputs differ.
#ifndef HONE_COMPILER_FRONTEND_ZOO_ZOO_H_
#define HONE_COMPILER_FRONTEND_ZOO_ZOO_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// As ImportOnnx gives a module: "main" with input "data", types inferred, output "output". The same
// name and batch always give the same bytes. kNotFound lists the names; kInvalidArgument: a batch
// below 1.
absl::StatusOr<ir::Module> ZooModel(std::string_view name, int64_t batch = 1);
std::vector<std::string> ZooNames();

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ZOO_ZOO_H_
