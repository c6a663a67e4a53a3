#include "runtime/opencl/sequence.h"

#include <chrono>

namespace hone::opencl {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::unique_ptr<OpenClSequence> OpenClSequence::Make(const OpenClModule& module,
                                                     const SequencePlan& plan, std::string* error) {
  std::unique_ptr<OpenClSequence> sequence(new OpenClSequence(module, plan));
  if (!sequence->MakeKernels(module, error)) return nullptr;
  sequence->AddressesChanged();
  return sequence;
}

OpenClSequence::~OpenClSequence() {
  for (const cl_kernel kernel : kernels_) device_.api().ReleaseKernel(kernel);
}

bool OpenClSequence::MakeKernels(const OpenClModule& module, std::string* error) {
  for (const SequenceStep& step : plan_.steps) {
    const hone_device_launch& launch = *step.device_launch;
    cl_int code = CL_SUCCESS;
    const cl_kernel kernel =
        device_.api().CreateKernel(module.program(launch.code), launch.entry, &code);
    if (code != CL_SUCCESS) {
      *error = "expected the module's code to have " + std::string(launch.entry) + ", found " +
               ErrorName(code);
      return false;
    }
    kernels_.push_back(kernel);
  }
  return true;
}

bool OpenClSequence::SetArguments(size_t step, void* const* addresses) {
  const hone_device_launch& launch = *plan_.steps[step].device_launch;
  bool ok = true;
  for (uint32_t a = 0; a < launch.argument_count; ++a) {
    const Place place = device_.Find(addresses[launch.arguments[a]]);
    const Api& api = device_.api();
    ok = ok &&
         device_.Check(api.SetKernelArg(kernels_[step], 2 * a, sizeof(cl_mem), &place.buffer),
                       "setting a buffer") &&
         device_.Check(
             api.SetKernelArg(kernels_[step], 2 * a + 1, sizeof(cl_ulong), &place.offset_bytes),
             "setting an offset");
  }
  return ok;
}

void OpenClSequence::AddressesChanged() {
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    if (!SetArguments(s, plan_.addresses + plan_.steps[s].first_buffer)) return;
  }
}

bool OpenClSequence::Enqueue(const StepVisit& visit, cl_command_queue queue, cl_event* event) {
  // Arguments outside of repeats are set already.
  if (visit.is_in_repeat && !SetArguments(visit.step, visit.addresses)) return false;
  const hone_device_launch& launch = *plan_.steps[visit.step].device_launch;
  size_t global[3];
  size_t local[3];
  for (int d = 0; d < 3; ++d) {
    local[d] = launch.threads[d];
    global[d] = size_t{launch.blocks[d]} * launch.threads[d];
  }
  return device_.Check(device_.api().EnqueueNDRangeKernel(queue, kernels_[visit.step], 3, nullptr,
                                                          global, local, 0, nullptr, event),
                       std::string("launching ") + launch.entry);
}

bool OpenClSequence::EnqueueRun() {
  return WalkSteps(
      plan_, [&](const StepVisit& visit) { return Enqueue(visit, device_.queue(), nullptr); });
}

void OpenClSequence::Run() {
  if (device_.has_failed() || !EnqueueRun()) return;
  device_.Check(device_.api().Finish(device_.queue()), "running the model");
}

double OpenClSequence::Time(int64_t runs) {
  if (device_.has_failed()) return 0;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < runs; ++i) {
    if (!EnqueueRun()) break;
  }
  device_.Check(device_.api().Finish(device_.queue()), "running the model");
  return SecondsSince(start);
}

double OpenClSequence::TimeWithoutKernels(int64_t runs) {
  if (device_.has_failed()) return 0;
  const Api& api = device_.api();
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < runs; ++i) {
    const bool ok = WalkSteps(plan_, [&](const StepVisit&) {
      return device_.Check(api.EnqueueMarkerWithWaitList(device_.queue(), 0, nullptr, nullptr),
                           "marking a place");
    });
    if (!ok) break;
  }
  device_.Check(api.Finish(device_.queue()), "waiting for marks");
  return SecondsSince(start);
}

void OpenClSequence::RunTimed(std::vector<double>& call_ns) {
  if (device_.has_failed()) return;
  const Api& api = device_.api();
  cl_int code = CL_SUCCESS;
  const cl_command_queue queue =
      api.CreateCommandQueue(device_.context(), device_.id(), CL_QUEUE_PROFILING_ENABLE, &code);
  if (!device_.Check(code, "making a queue that profiles")) return;
  WalkSteps(plan_, [&](const StepVisit& visit) {
    cl_event event = nullptr;
    if (!Enqueue(visit, queue, &event)) return false;
    cl_ulong start_ns = 0;
    cl_ulong end_ns = 0;
    const bool ok = device_.Check(api.WaitForEvents(1, &event), "running a launch") &&
                    device_.Check(api.GetEventProfilingInfo(event, CL_PROFILING_COMMAND_START,
                                                            sizeof(start_ns), &start_ns, nullptr),
                                  "timing a launch") &&
                    device_.Check(api.GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END,
                                                            sizeof(end_ns), &end_ns, nullptr),
                                  "timing a launch");
    api.ReleaseEvent(event);
    if (ok) call_ns[plan_.steps[visit.step].call] += static_cast<double>(end_ns - start_ns);
    return ok;
  });
  api.ReleaseCommandQueue(queue);
}

}  // namespace hone::opencl
