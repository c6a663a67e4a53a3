// Runs single operators on small tensors: their naive nest by the interpreter. Tests compare with
// plain loops over doubles.
#ifndef HONE_TESTS_COMPILER_OPS_OP_RUNNER_H_
#define HONE_TESTS_COMPILER_OPS_OP_RUNNER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

using Index = std::vector<int64_t>;

struct TestTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
  DataType dtype = DataType::kFloat32;

  int64_t Offset(const Index& index) const;
  double At(const Index& index) const { return values[Offset(index)]; }
};

// Floats in [low, high), or integers of it; rounded to the type.
TestTensor RandomTensor(std::vector<int64_t> shape, uint64_t seed,
                        DataType dtype = DataType::kFloat32, double low = -1, double high = 1);
TestTensor Generate(std::vector<int64_t> shape, const std::function<double(const Index&)>& value);

ir::Expr ToConstant(const TestTensor& tensor);
TestTensor FromConstant(const ir::Expr& constant);

// "concatenate" gets its operands as one tuple.
absl::StatusOr<TestTensor> RunOp(const std::string& op, const std::vector<TestTensor>& args,
                                 const ir::Attrs& attrs = {});

// Fails the test where the shapes differ or an element by more than tolerance * (1 + |expected|).
void ExpectNear(const absl::StatusOr<TestTensor>& found, const TestTensor& expected,
                double tolerance = 1e-5);

// The message of the error that inference gives on operands of these types; "" where it gives none.
std::string InferenceError(const std::string& op, const std::vector<ir::TensorType>& args,
                           const ir::Attrs& attrs = {});

}  // namespace hone::ops

#endif  // HONE_TESTS_COMPILER_OPS_OP_RUNNER_H_
