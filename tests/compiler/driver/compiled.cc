#include "tests/compiler/driver/compiled.h"

#include <stdlib.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/data_type.h"
#include "runtime/find_device.h"
#include "runtime/host.h"
#include "support/status.h"

namespace hone::driver {
namespace {

template <typename T>
std::string Compare(const frontend::TensorData& found, const frontend::TensorData& expected,
                    double rtol, double atol) {
  const size_t count = expected.bytes.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T a{};
    T b{};
    std::memcpy(&a, found.bytes.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&b, expected.bytes.data() + i * sizeof(T), sizeof(T));
    const double x = static_cast<double>(a);
    const double y = static_cast<double>(b);
    const bool same =
        x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= atol + rtol * std::abs(y);
    if (!same) return fmt::format("element {}: expected {}, found {}", i, y, x);
  }
  return "";
}

}  // namespace

absl::StatusOr<Compiled> Compiled::Make(std::vector<ir::Module> specialisations,
                                        const CompileOptions& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "hone-driver-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return absl::InternalError("mkdtemp");
  const std::string path = folder + "/model.so";
  ConfigChain defaults;
  absl::StatusOr<CompileReport> report =
      Compile(std::move(specialisations), options, defaults, path);
  Compiled compiled;
  std::string error;
  if (report.ok()) compiled.module_ = Module::Open(path, &error);
  std::filesystem::remove_all(folder);
  HONE_RETURN_IF_ERROR(report.status());
  if (!compiled.module_) return absl::InternalError(error);
  compiled.report_ = *std::move(report);
  return compiled;
}

absl::StatusOr<std::vector<frontend::TensorData>> Compiled::Run(
    const std::vector<frontend::TensorData>& inputs, int threads, size_t specialisation) {
  const hone_function& main = function(specialisation);
  std::string error;
  const std::shared_ptr<Device> device = FindDevice("", module_->table().target, threads, &error);
  if (!device) return absl::FailedPreconditionError(error);
  const std::unique_ptr<Executor> executor = Executor::Make(*module_, main, device, &error);
  if (!executor) return absl::ResourceExhaustedError(error);
  if (inputs.size() != main.input_count)
    return absl::InvalidArgumentError("wrong number of inputs");
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].bytes.size() != main.inputs[i].size_bytes)
      return absl::InvalidArgumentError("wrong input size");
  }
  const auto copy_in = [&](bool floating) {
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const std::string& bytes = inputs[i].bytes;
      if (bytes.empty() || IsFloat(inputs[i].dtype) != floating) continue;
      device->CopyIn(executor->Input(i), bytes.data(), bytes.size());
    }
  };
  copy_in(/*floating=*/false);
  // From the second run on, GPUs run a graph, whose launches go in another order in the tests'
  // driver. The first run has zeros for floats, so that what it leaves in memory is wrong then.
  if (!device->is_host()) executor->Run();
  copy_in(/*floating=*/true);
  executor->Run();
  std::vector<frontend::TensorData> outputs;
  for (uint32_t i = 0; i < main.output_count; ++i) {
    const hone_value& value = main.outputs[i];
    frontend::TensorData output{.dtype = static_cast<DataType>(value.dtype),
                                .shape = {value.shape, value.shape + value.rank},
                                .bytes = {}};
    output.bytes.assign(static_cast<const char*>(executor->ReadOutput(i)), value.size_bytes);
    outputs.push_back(std::move(output));
  }
  if (!device->error().empty()) return absl::UnavailableError(device->error());
  return outputs;
}

CpuTarget HostTarget() { return *CpuTarget::Parse(HostTargetText(1)); }

std::string FirstDifference(const frontend::TensorData& found, const frontend::TensorData& expected,
                            double rtol, double atol) {
  if (found.dtype != expected.dtype || found.shape != expected.shape) {
    return fmt::format("expected {}[{}], found {}[{}]", Name(expected.dtype),
                       fmt::join(expected.shape, ", "), Name(found.dtype),
                       fmt::join(found.shape, ", "));
  }
  switch (expected.dtype) {
    case DataType::kFloat32:
      return Compare<float>(found, expected, rtol, atol);
    case DataType::kFloat64:
      return Compare<double>(found, expected, rtol, atol);
    default:
      return found.bytes == expected.bytes ? "" : "integers differ";
  }
}

}  // namespace hone::driver
