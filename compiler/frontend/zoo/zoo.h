// Built-in models, made from nothing but a name: their weights come from a fixed seed, scaled so
// that activations keep their size and outputs differ.
#ifndef HONE_COMPILER_FRONTEND_ZOO_ZOO_H_
#define HONE_COMPILER_FRONTEND_ZOO_ZOO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// The divisors give nets of the same layers that an interpreter can run: tests use them.
struct ZooSize {
  int64_t batch = 1;
  int64_t width_divisor = 1;   // of channels and units; results are at least 1
  int64_t extent_divisor = 1;  // of images, in each axis, and of sequences
};

// The module of a model, in the form that ImportOnnx gives: "main" has its types inferred, images
// are called "data", and the output "output". The same name and size always give the same bytes.
// "synthetic_N" is "synthetic" of N operators. kNotFound lists the names. kInvalidArgument: a batch
// that is not from 1 to 65536, a divisor below 1, or an N that is no number from 10 to 100000.
absl::StatusOr<ir::Module> ZooModel(std::string_view name, const ZooSize& size);
absl::StatusOr<ir::Module> ZooModel(std::string_view name, int64_t batch = 1);
std::vector<std::string> ZooNames();

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ZOO_ZOO_H_
