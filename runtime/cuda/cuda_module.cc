#include "runtime/cuda/cuda_module.h"

#include "runtime/cuda/cuda_sequence.h"

namespace hone::cuda {
namespace {

constexpr char kNothing[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry hone_nothing() { ret; }\n";

// Shared memory that a kernel may have without asking for it.
constexpr uint64_t kSharedBytes = 48 << 10;

}  // namespace

std::unique_ptr<CudaModule> CudaModule::Make(const Module& module, CudaDevice& device,
                                             std::string* error) {
  const hone_module& table = module.table();
  if (DeviceLaunchCount(table) == 0 || table.codes[0].kind != HONE_CODE_PTX) {
    *error = "expected a module for a device of CUDA, found one for " + std::string(table.target) +
             "; open it on such a device";
    return nullptr;
  }
  const InContext in_context(device);
  std::unique_ptr<CudaModule> loaded(new CudaModule(module, device));
  if (!loaded->FitsDevice(error)) return nullptr;
  for (uint32_t c = 0; c < CodeCount(table); ++c) {
    if (!loaded->Build(table.codes[c].bytes, error)) return nullptr;
  }
  const bool is_complete = loaded->BuildNothing(error) && loaded->LoadParameters(error);
  return is_complete ? std::move(loaded) : nullptr;
}

CudaModule::~CudaModule() {
  const InContext in_context(device_);
  for (const DriverModule module : modules_) device_.api().ModuleUnload(module);
}

bool CudaModule::FitsDevice(std::string* error) const {
  const hone_module& table = module_.table();
  const CudaLimits& limits = device_.limits();
  for (uint32_t l = 0; l < DeviceLaunchCount(table); ++l) {
    const hone_device_launch& launch = table.device_launches[l];
    const uint64_t threads = uint64_t{launch.threads[0]} * launch.threads[1] * launch.threads[2];
    if (threads <= static_cast<uint64_t>(limits.threads) &&
        launch.shared_bytes <= static_cast<uint64_t>(limits.shared_bytes)) {
      continue;
    }
    *error = "expected a device whose blocks have " + std::to_string(threads) + " threads and " +
             std::to_string(launch.shared_bytes) + " bytes, found that " + device_.name() +
             " has " + std::to_string(limits.threads) + " and " +
             std::to_string(limits.shared_bytes) + "; compile the model for its target";
    return false;
  }
  return true;
}

bool CudaModule::Build(const char* ptx, std::string* error) {
  std::string log(4096, '\0');
  int options[] = {kErrorLogBuffer, kErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  DriverModule built = nullptr;
  const Result result = device_.api().ModuleLoadDataEx(&built, ptx, 2, options, values);
  if (result == kSuccess) {
    modules_.push_back(built);
    return true;
  }
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  *error = "expected " + device_.name() + " to compile the module's code for " +
           module_.table().target + ", found " + device_.api().NameOf(result) +
           (log.empty() ? "" : ": " + log);
  return false;
}

bool CudaModule::BuildNothing(std::string* error) {
  if (!Build(kNothing, error)) return false;
  const Result result = device_.api().ModuleGetFunction(&nothing_, modules_.back(), "hone_nothing");
  const bool is_found = device_.Check(result, "finding a kernel");
  *error = device_.error();
  return is_found;
}

Function CudaModule::Find(const hone_device_launch& launch, std::string* error) const {
  Function function = nullptr;
  const Result found =
      device_.api().ModuleGetFunction(&function, modules_[launch.code], launch.entry);
  if (found != kSuccess) {
    *error = "expected the module's code to have " + std::string(launch.entry) + ", found " +
             device_.api().NameOf(found);
    return nullptr;
  }
  if (launch.shared_bytes <= kSharedBytes) return function;
  const Result allowed = device_.api().FuncSetAttribute(function, kMaxDynamicSharedSizeBytes,
                                                        static_cast<int>(launch.shared_bytes));
  if (allowed == kSuccess) return function;
  *error = "expected " + device_.name() + " to give " + launch.entry + " " +
           std::to_string(launch.shared_bytes) + " bytes of shared memory, found " +
           device_.api().NameOf(allowed);
  return nullptr;
}

bool CudaModule::LoadParameters(std::string* error) {
  const uint64_t size_bytes = module_.table().parameters_bytes;
  if (size_bytes == 0) return true;
  parameters_ = device_.Allocate(size_bytes);
  if (!parameters_ && device_.has_failed()) {
    *error = device_.error();
    return false;
  }
  if (!parameters_) {
    *error = "expected " + std::to_string(size_bytes) + " bytes on " + device_.name() +
             " for the parameters, found less free memory";
    return false;
  }
  device_.CopyIn(parameters_->data(), module_.parameters(), size_bytes);
  *error = device_.error();
  return !device_.has_failed();
}

std::unique_ptr<LaunchSequence> CudaModule::MakeSequence(const SequencePlan& plan,
                                                         std::string* error) {
  return CudaSequence::Make(*this, plan, error);
}

}  // namespace hone::cuda
