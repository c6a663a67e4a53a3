// Test models with weights from the generator that shared/data/onnx_light/README.md defines: the
// "light" ONNX models have none of their own.
#ifndef HONE_TESTS_COMPILER_FRONTEND_SEEDED_WEIGHTS_H_
#define HONE_TESTS_COMPILER_FRONTEND_SEEDED_WEIGHTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensor_file.h"

namespace hone::frontend {

// The folder of the shared test data ($HONE_SHARED_DATA, else shared/data beside the source tree);
// nullopt where it is not there, and tests skip.
std::optional<std::string> SharedData();

// The model with every weight filled in as an initializer. The last weight is also multiplied by
// 2^last_scale_log2 (the manifest has it for each model).
absl::StatusOr<std::string> WithSeededWeights(std::string_view model_bytes, int last_scale_log2);

// The input that the expected outputs belong to: 2u - 1 of the name "input".
TensorData SeededInput(const std::vector<int64_t>& shape);

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_SEEDED_WEIGHTS_H_
