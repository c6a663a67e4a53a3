// Compiles a model and runs it on this machine, as `hone run` does.
#ifndef HONE_TESTS_COMPILER_DRIVER_COMPILED_H_
#define HONE_TESTS_COMPILER_DRIVER_COMPILED_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/tensor_file.h"
#include "runtime/executor.h"
#include "runtime/module.h"

namespace hone::driver {

// A module on disk for the life of the object.
class Compiled {
 public:
  static absl::StatusOr<Compiled> Make(const ir::Module& module, const CompileOptions& options) {
    return Make(std::vector<ir::Module>{module}, options);
  }
  static absl::StatusOr<Compiled> Make(std::vector<ir::Module> specialisations,
                                       const CompileOptions& options);
  const CompileReport& report() const { return report_; }
  const hone_module& table() const { return module_->table(); }
  const hone_function& function(size_t specialisation = 0) const {
    return module_->table().functions[specialisation];
  }

  // The outputs for these inputs, in order. `threads` are of the host, on a CPU.
  absl::StatusOr<std::vector<frontend::TensorData>> Run(
      const std::vector<frontend::TensorData>& inputs, int threads, size_t specialisation = 0);

 private:
  std::unique_ptr<Module> module_;
  CompileReport report_;
};

// This machine's target with one thread.
CpuTarget HostTarget();

// The first element that is not within atol + rtol * |expected|, as a sentence; empty when all are.
std::string FirstDifference(const frontend::TensorData& found, const frontend::TensorData& expected,
                            double rtol, double atol);

}  // namespace hone::driver

#endif  // HONE_TESTS_COMPILER_DRIVER_COMPILED_H_
