#include "compiler/frontend/import_options.h"

#include "compiler/frontend/onnx/graph_builder.h"

namespace hone::frontend {
namespace {

// Moves what is at hand of the inputs that `status` wants into the constants; false for none.
bool TakeValues(const absl::Status& status, ImportOptions& options) {
  bool taken = false;
  for (const std::string& name : InputsNeeded(status)) {
    const auto value = options.values.find(name);
    if (value == options.values.end() || options.constants.contains(name)) continue;
    options.constants[name] = value->second;
    options.values.erase(value);
    taken = true;
  }
  return taken;
}

}  // namespace

absl::StatusOr<ir::Module> ImportWithValues(
    const ImportOptions& options,
    absl::FunctionRef<absl::StatusOr<ir::Module>(const ImportOptions&)> import) {
  absl::StatusOr<ir::Module> module = import(options);
  ImportOptions bound = options;
  while (!module.ok() && TakeValues(module.status(), bound)) module = import(bound);
  return module;
}

}  // namespace hone::frontend
