#include "runtime/c_api.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "runtime/c_model.h"
#include "runtime/data_type.h"
#include "runtime/find_device.h"
#include "runtime/host.h"
#include "runtime/module.h"
#include "runtime/target_text.h"
#include "runtime/thread_team.h"

namespace {

thread_local std::string last_error;

using hone::Fail;
using hone::Has;
using hone::HasModel;

int FillInfo(const hone_value* values, uint32_t count, uint32_t index, const char* what,
             hone_tensor_info* info) {
  if (!Has(info, "a place for the description")) return HONE_BAD_INPUT;
  if (index >= count) {
    return Fail(HONE_BAD_INPUT, std::string("expected an ") + what + " below " +
                                    std::to_string(count) + ", found " + std::to_string(index));
  }
  const hone_value& value = values[index];
  // Names of types are literals, so their data ends with a zero.
  info->name = value.name;
  info->dtype = hone::Name(static_cast<hone::DataType>(value.dtype)).data();
  info->rank = value.rank;
  info->shape = value.shape;
  info->size_bytes = value.size_bytes;
  return HONE_OK;
}

int CheckRuns(int64_t runs) {
  if (runs >= 1) return HONE_OK;
  return Fail(HONE_BAD_INPUT, "expected at least 1 run, found " + std::to_string(runs));
}

int CheckCall(const hone_model* model, uint32_t call) {
  const uint32_t count = hone_call_count(model);
  if (call < count) return HONE_OK;
  return Fail(HONE_BAD_INPUT,
              "expected a call below " + std::to_string(count) + ", found " + std::to_string(call));
}

int CheckBinding(const hone_model* model, uint32_t index, uint32_t count, const void* data) {
  if (index >= count) {
    return Fail(HONE_BAD_INPUT, "expected an index below " + std::to_string(count) + ", found " +
                                    std::to_string(index));
  }
  if (data != nullptr && !model->model->device().is_host()) {
    return Fail(HONE_BAD_INPUT,
                "expected a model on the CPU to bind memory of the host to, found "
                "one on " +
                    model->model->device().name() + "; use hone_set_input and hone_output");
  }
  return hone::IsAligned(data) ? HONE_OK : HONE_BAD_INPUT;
}

const hone_function& FunctionOf(const hone_model* model) { return model->function(); }

int ToCode(hone::Model::Result result, const std::string& error) {
  if (result == hone::Model::Result::kChosen) return HONE_OK;
  return Fail(result == hone::Model::Result::kNoMemory ? HONE_FAILED : HONE_BAD_INPUT, error);
}

// Whether nothing stands against running, for a timing; else the error is set.
bool CanRun(const hone_model* model) {
  std::string error;
  if (!HasModel(model)) return false;
  if (model->model->CanRun(&error)) return true;
  Fail(HONE_BAD_INPUT, error);
  return false;
}

// Whether the run has its inputs as well; else the error is set.
bool HasInputs(const hone_model* model) {
  std::string error;
  if (model->model->AllGiven(&error)) return true;
  Fail(HONE_BAD_INPUT, error);
  return false;
}

int CheckOpen(const char* path, int threads, uint32_t flags, hone_model** model) {
  if (!Has(path, "a path") || !Has(model, "a place for the handle")) {
    return HONE_BAD_INPUT;
  }
  *model = nullptr;
  if (threads < 0 || threads > hone::kMaxThreads) {
    return Fail(HONE_BAD_INPUT, "expected from 1 to " + std::to_string(hone::kMaxThreads) +
                                    " threads, or 0 for as many as compiled for, found " +
                                    std::to_string(threads));
  }
  if ((flags & ~uint32_t{HONE_OPEN_COPY_PARAMETERS}) != 0) {
    return Fail(HONE_BAD_INPUT, "expected flags of hone_open_flags, found " +
                                    std::to_string(flags) +
                                    "; is the runtime older than its user?");
  }
  return HONE_OK;
}

}  // namespace

int hone::Fail(hone_code code, const std::string& message) {
  last_error = message;
  return code;
}

bool hone::Has(const void* argument, const char* what) {
  if (argument != nullptr) return true;
  Fail(HONE_BAD_INPUT, std::string("expected ") + what + ", found NULL");
  return false;
}

bool hone::IsAligned(const void* data) {
  if (reinterpret_cast<uintptr_t>(data) % HONE_BUFFER_ALIGNMENT == 0) return true;
  Fail(HONE_BAD_INPUT, "expected memory aligned to 64 bytes; copy it with hone_set_input instead");
  return false;
}

int hone::DeviceStatus(const hone_model* model) {
  const std::string error = model->model->device().error();
  return error.empty() ? HONE_OK : Fail(HONE_FAILED, error);
}

int hone::ChooseShape(hone_model* model, uint32_t input, const InputShape& shape) {
  std::string error;
  return ToCode(model->model->ChooseShape(input, shape, &error), error);
}

const char* hone_last_error(void) { return last_error.c_str(); }

const char* hone_version(void) { return HONE_VERSION; }

int hone_open(const char* path, int threads, hone_model** model) {
  return hone_open_with(path, threads, 0, model);
}

int hone_open_with(const char* path, int threads, uint32_t flags, hone_model** model) {
  return hone_open_on(path, nullptr, threads, flags, model);
}

int hone_open_on(const char* path, const char* device, int threads, uint32_t flags,
                 hone_model** model) {
  if (const int code = CheckOpen(path, threads, flags, model); code != HONE_OK) return code;
  auto opened = std::make_unique<hone_model>();
  std::string error;
  std::unique_ptr<hone::Module> module = hone::Module::Open(
      path, &error,
      (flags & HONE_OPEN_COPY_PARAMETERS) != 0 ? hone::Module::Parameters::kCopied
                                               : hone::Module::Parameters::kMapped);
  if (!module) return Fail(HONE_BAD_INPUT, error);
  const hone_module& table = module->table();
  if (table.function_count == 0) {
    return Fail(HONE_BAD_INPUT,
                std::string("expected a compiled model at ") + path + ", found a candidate kernel");
  }
  if (threads == 0) {
    threads = std::min(hone::ThreadsOf(table.target), hone::HostCoreCount());
  }
  std::shared_ptr<hone::Device> found =
      hone::FindDevice(device != nullptr ? device : "", table.target, threads, &error);
  if (!found) return Fail(HONE_BAD_INPUT, error);
  opened->model = hone::Model::Make(std::move(module), std::move(found), &error);
  if (!opened->model) return Fail(HONE_FAILED, error);
  *model = opened.release();
  return HONE_OK;
}

void hone_close(hone_model* model) { delete model; }

const char* hone_target(const hone_model* model) {
  return HasModel(model) ? model->model->table().target : nullptr;
}
int hone_threads(const hone_model* model) {
  return HasModel(model) ? model->executor().threads() : 0;
}
uint32_t hone_input_count(const hone_model* model) {
  return HasModel(model) ? FunctionOf(model).input_count : 0;
}
uint32_t hone_output_count(const hone_model* model) {
  return HasModel(model) ? FunctionOf(model).output_count : 0;
}

int hone_input_info(const hone_model* model, uint32_t index, hone_tensor_info* info) {
  if (!HasModel(model)) return HONE_BAD_INPUT;
  return FillInfo(FunctionOf(model).inputs, FunctionOf(model).input_count, index, "input", info);
}

int hone_output_info(const hone_model* model, uint32_t index, hone_tensor_info* info) {
  if (!HasModel(model)) return HONE_BAD_INPUT;
  return FillInfo(FunctionOf(model).outputs, FunctionOf(model).output_count, index, "output", info);
}

uint32_t hone_specialisation_count(const hone_model* model) {
  return HasModel(model) ? model->model->table().function_count : 0;
}

uint32_t hone_specialisation(const hone_model* model) {
  return HasModel(model) ? model->model->chosen() : 0;
}

int hone_specialisation_input_info(const hone_model* model, uint32_t specialisation, uint32_t index,
                                   hone_tensor_info* info) {
  if (!HasModel(model)) return HONE_BAD_INPUT;
  const hone_module& table = model->model->table();
  if (specialisation >= table.function_count) {
    return Fail(HONE_BAD_INPUT, "expected a specialisation below " +
                                    std::to_string(table.function_count) + ", found " +
                                    std::to_string(specialisation));
  }
  const hone_function& function = table.functions[specialisation];
  return FillInfo(function.inputs, function.input_count, index, "input", info);
}

int hone_choose_specialisation(hone_model* model, uint32_t specialisation) {
  if (!HasModel(model)) return HONE_BAD_INPUT;
  std::string error;
  return ToCode(model->model->Choose(specialisation, &error), error);
}

int hone_choose_shape(hone_model* model, uint32_t index, uint32_t rank, const int64_t* shape) {
  hone_tensor_info info{};
  if (const int code = hone_input_info(model, index, &info); code != HONE_OK) return code;
  if (rank > 0 && !Has(shape, "the shape's extents")) return HONE_BAD_INPUT;
  return hone::ChooseShape(model, index, {shape, shape + rank});
}

int hone_set_input(hone_model* model, uint32_t index, const void* data, uint64_t size_bytes) {
  hone_tensor_info info{};
  if (const int code = hone_input_info(model, index, &info); code != HONE_OK) return code;
  if (size_bytes != info.size_bytes) {
    return Fail(HONE_BAD_INPUT, std::string("expected ") + std::to_string(info.size_bytes) +
                                    " bytes for input " + info.name + ", found " +
                                    std::to_string(size_bytes));
  }
  if (size_bytes > 0 && !Has(data, "the input's bytes")) return HONE_BAD_INPUT;
  model->model->FillInput(index, [&](void* memory) {
    if (size_bytes > 0) std::memcpy(memory, data, size_bytes);
  });
  return hone::DeviceStatus(model);
}

int hone_bind_input(hone_model* model, uint32_t index, const void* data) {
  if (!HasModel(model)) return HONE_BAD_INPUT;
  if (const int code = CheckBinding(model, index, hone_input_count(model), data); code != HONE_OK)
    return code;
  model->model->BindInput(index, const_cast<void*>(data));
  return HONE_OK;
}

int hone_bind_output(hone_model* model, uint32_t index, void* data) {
  if (!HasModel(model)) return HONE_BAD_INPUT;
  if (const int code = CheckBinding(model, index, hone_output_count(model), data); code != HONE_OK)
    return code;
  model->executor().BindOutput(index, data);
  return HONE_OK;
}

int hone_run(hone_model* model) {
  if (!CanRun(model) || !HasInputs(model)) return HONE_BAD_INPUT;
  model->executor().Run();
  return hone::DeviceStatus(model);
}

const void* hone_output(const hone_model* model, uint32_t index) {
  if (!HasModel(model)) return nullptr;
  if (index >= FunctionOf(model).output_count) return nullptr;
  const void* const data = model->executor().ReadOutput(index);
  return hone::DeviceStatus(model) == HONE_OK ? data : nullptr;
}

int hone_time(hone_model* model, int64_t runs, double* seconds) {
  if (!HasModel(model) || !Has(seconds, "a place for the seconds")) return HONE_BAD_INPUT;
  if (const int code = CheckRuns(runs); code != HONE_OK) return code;
  if (!CanRun(model)) return HONE_BAD_INPUT;
  *seconds = model->executor().Time(runs);
  return hone::DeviceStatus(model);
}

uint32_t hone_call_count(const hone_model* model) {
  return HasModel(model) ? FunctionOf(model).call_count : 0;
}

int hone_call_kernel(const hone_model* model, uint32_t call, hone_kernel_info* info) {
  if (!HasModel(model) || !Has(info, "a place for the description")) return HONE_BAD_INPUT;
  if (const int code = CheckCall(model, call); code != HONE_OK) return code;
  const hone_module& table = model->model->table();
  const hone_function& function = FunctionOf(model);
  const hone_kernel& kernel = table.kernels[function.calls[call].kernel];
  const auto trips = static_cast<double>(hone::TripsOf(table, function, call));
  *info = {kernel.name, kernel.workload, kernel.config, kernel.tier, kernel.flops * trips};
  return HONE_OK;
}

int hone_profile(hone_model* model, int runs, double* call_ns) {
  if (!HasModel(model)) return HONE_BAD_INPUT;
  if (hone_call_count(model) > 0 && !Has(call_ns, "a place for the nanoseconds")) {
    return HONE_BAD_INPUT;
  }
  if (const int code = CheckRuns(runs); code != HONE_OK) return code;
  if (!CanRun(model)) return HONE_BAD_INPUT;
  const std::vector<double> medians = model->executor().Profile(runs);
  std::copy(medians.begin(), medians.end(), call_ns);
  return hone::DeviceStatus(model);
}

int hone_time_call(hone_model* model, uint32_t call, int64_t runs, double* seconds) {
  if (!HasModel(model) || !Has(seconds, "a place for the seconds")) return HONE_BAD_INPUT;
  if (const int code = CheckCall(model, call); code != HONE_OK) return code;
  if (const int code = CheckRuns(runs); code != HONE_OK) return code;
  if (!CanRun(model)) return HONE_BAD_INPUT;
  std::string error;
  *seconds = model->executor().TimeCall(call, runs, &error);
  return error.empty() ? hone::DeviceStatus(model) : Fail(HONE_FAILED, error);
}

int hone_time_executor(hone_model* model, int64_t runs, double* seconds) {
  if (!HasModel(model) || !Has(seconds, "a place for the seconds")) return HONE_BAD_INPUT;
  if (const int code = CheckRuns(runs); code != HONE_OK) return code;
  if (!CanRun(model)) return HONE_BAD_INPUT;
  *seconds = model->executor().TimeWithoutKernels(runs);
  return hone::DeviceStatus(model);
}
