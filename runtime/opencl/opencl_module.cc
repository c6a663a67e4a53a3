#include "runtime/opencl/opencl_module.h"

#include <algorithm>

#include "runtime/opencl/sequence.h"

namespace hone::opencl {
namespace {

// The driver's words are for people; some write pages.
constexpr size_t kMostLogBytes = 2000;

std::string BuildLog(const OpenClDevice& device, cl_program program) {
  size_t size_bytes = 0;
  device.api().GetProgramBuildInfo(program, device.id(), CL_PROGRAM_BUILD_LOG, 0, nullptr,
                                   &size_bytes);
  std::string log(size_bytes, '\0');
  device.api().GetProgramBuildInfo(program, device.id(), CL_PROGRAM_BUILD_LOG, size_bytes,
                                   log.data(), nullptr);
  log.erase(std::find(log.begin(), log.end(), '\0'), log.end());
  return log.substr(0, kMostLogBytes);
}

}  // namespace

std::unique_ptr<OpenClModule> OpenClModule::Make(const Module& module, OpenClDevice& device,
                                                 std::string* error) {
  const hone_module& table = module.table();
  if (DeviceLaunchCount(table) == 0 || table.codes[0].kind != HONE_CODE_OPENCL_C) {
    *error = "expected a module for a device of OpenCL, found one for " +
             std::string(table.target) + "; open it on such a device";
    return nullptr;
  }
  std::unique_ptr<OpenClModule> loaded(new OpenClModule(module, device));
  if (!loaded->FitsDevice(error)) return nullptr;
  for (uint32_t c = 0; c < CodeCount(table); ++c) {
    if (!loaded->Build(table.codes[c], error)) return nullptr;
  }
  return loaded->LoadParameters(error) ? std::move(loaded) : nullptr;
}

OpenClModule::~OpenClModule() {
  for (const cl_program program : programs_) device_.api().ReleaseProgram(program);
}

bool OpenClModule::FitsDevice(std::string* error) const {
  const hone_module& table = module_.table();
  const DeviceLimits& limits = device_.limits();
  for (uint32_t l = 0; l < DeviceLaunchCount(table); ++l) {
    const hone_device_launch& launch = table.device_launches[l];
    const uint64_t work_items = uint64_t{launch.threads[0]} * launch.threads[1] * launch.threads[2];
    if (work_items <= limits.work_items && launch.shared_bytes <= limits.local_bytes) continue;
    *error = "expected a device whose work groups have " + std::to_string(work_items) +
             " work items and " + std::to_string(launch.shared_bytes) + " bytes, found that " +
             device_.name() + " has " + std::to_string(limits.work_items) + " and " +
             std::to_string(limits.local_bytes) + "; compile the model for its target";
    return false;
  }
  return true;
}

bool OpenClModule::Build(const hone_device_code& code, std::string* error) {
  const Api& api = device_.api();
  cl_int result = CL_SUCCESS;
  const char* text = code.bytes;
  const size_t size_bytes = code.size_bytes;
  const cl_program program =
      api.CreateProgramWithSource(device_.context(), 1, &text, &size_bytes, &result);
  if (result != CL_SUCCESS) {
    *error =
        "expected " + device_.name() + " to take the module's code, found " + ErrorName(result);
    return false;
  }
  programs_.push_back(program);
  std::string options = code.options;
  if (device_.limits().rounds_division) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  const cl_device_id id = device_.id();
  result = api.BuildProgram(program, 1, &id, options.c_str(), nullptr, nullptr);
  if (result == CL_SUCCESS) return true;
  *error = "expected " + device_.name() + " to build the module's code, found " +
           ErrorName(result) + ": " + BuildLog(device_, program);
  return false;
}

bool OpenClModule::LoadParameters(std::string* error) {
  const uint64_t size_bytes = module_.table().parameters_bytes;
  if (size_bytes == 0) return true;
  parameters_ = device_.Allocate(size_bytes);
  if (!parameters_) {
    *error = "expected " + std::to_string(size_bytes) + " bytes on " + device_.name() +
             " for the parameters, found less free memory";
    return false;
  }
  device_.CopyIn(parameters_->data(), module_.parameters(), size_bytes);
  *error = device_.error();
  return !device_.has_failed();
}

std::unique_ptr<LaunchSequence> OpenClModule::MakeSequence(const SequencePlan& plan,
                                                           std::string* error) {
  return OpenClSequence::Make(*this, plan, error);
}

}  // namespace hone::opencl
