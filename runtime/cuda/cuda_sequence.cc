#include "runtime/cuda/cuda_sequence.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "runtime/launch_dependencies.h"

namespace hone::cuda {
namespace {

// A graph holds a record of each launch, so that a repeat of very many trips is launched step by
// step instead.
constexpr int64_t kMostNodes = 1 << 16;
// What a program pays to start a graph is more than many kernels take, so that timing starts a
// graph of several runs, of at least so many launches.
constexpr int64_t kTimedNodes = 64;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Events between launches, to be read when all have passed.
class Events {
 public:
  explicit Events(const CudaApi& api) : api_(api) {}
  ~Events() {
    for (const Event event : events_) api_.EventDestroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  Result Record(Stream stream) {
    Event event = nullptr;
    const Result made = api_.EventCreate(&event, 0);
    if (made != kSuccess) return made;
    events_.push_back(event);
    return api_.EventRecord(event, stream);
  }
  // From event `i` to the next.
  Result Nanoseconds(size_t i, double* ns) const {
    float milliseconds = 0;
    const Result result = api_.EventElapsedTime(&milliseconds, events_[i], events_[i + 1]);
    *ns = 1e6 * static_cast<double>(milliseconds);
    return result;
  }

 private:
  const CudaApi& api_;
  std::vector<Event> events_;
};

// The driver takes the place of each argument.
std::vector<void*> ParametersOf(const hone_device_launch& launch, void* const* addresses) {
  std::vector<void*> parameters;
  for (uint32_t a = 0; a < launch.argument_count; ++a) {
    parameters.push_back(const_cast<void**>(addresses + launch.arguments[a]));
  }
  return parameters;
}

Result Launch(const CudaDevice& device, const KernelLaunch& kernel) {
  return device.api().LaunchKernel(kernel.function, kernel.blocks[0], kernel.blocks[1],
                                   kernel.blocks[2], kernel.threads[0], kernel.threads[1],
                                   kernel.threads[2], kernel.shared_bytes, device.stream(),
                                   kernel.parameters, nullptr);
}

}  // namespace

std::unique_ptr<CudaSequence> CudaSequence::Make(const CudaModule& module, const SequencePlan& plan,
                                                 std::string* error) {
  std::unique_ptr<CudaSequence> sequence(new CudaSequence(module, plan));
  return sequence->FindFunctions(error) ? std::move(sequence) : nullptr;
}

CudaSequence::~CudaSequence() { AddressesChanged(); }

bool CudaSequence::FindFunctions(std::string* error) {
  const InContext in_context(device_);
  for (const SequenceStep& step : plan_.steps) {
    const Function function = module_.Find(*step.device_launch, error);
    if (function == nullptr) return false;
    functions_.push_back(function);
  }
  return true;
}

void CudaSequence::AddressesChanged() {
  has_run_ = false;
  if (graph_ == nullptr) return;
  const InContext in_context(device_);
  device_.api().GraphExecDestroy(graph_);
  graph_ = nullptr;
  if (several_ == nullptr) return;
  device_.api().GraphExecDestroy(several_);
  several_ = nullptr;
}

KernelLaunch CudaSequence::KernelOf(size_t step) const {
  const hone_device_launch& launch = *plan_.steps[step].device_launch;
  KernelLaunch kernel{};
  kernel.function = functions_[step];
  std::copy(std::begin(launch.blocks), std::end(launch.blocks), kernel.blocks);
  std::copy(std::begin(launch.threads), std::end(launch.threads), kernel.threads);
  kernel.shared_bytes = static_cast<unsigned>(launch.shared_bytes);
  return kernel;
}

KernelLaunch CudaSequence::Nothing() const {
  return {module_.nothing(), {1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr};
}

bool CudaSequence::LaunchStep(const StepVisit& visit) {
  const hone_device_launch& launch = *plan_.steps[visit.step].device_launch;
  std::vector<void*> parameters = ParametersOf(launch, visit.addresses);
  KernelLaunch kernel = KernelOf(visit.step);
  kernel.parameters = parameters.data();
  return device_.Check(Launch(device_, kernel), std::string("launching ") + launch.entry);
}

bool CudaSequence::LaunchNothing() {
  return device_.Check(Launch(device_, Nothing()), "launching nothing");
}

void CudaSequence::AddRun(const std::vector<std::vector<size_t>>& dependencies, bool is_empty,
                          LaunchGraph* graph) const {
  size_t number = 0;
  WalkSteps(plan_, [&](const StepVisit& visit) {
    const SequenceStep& step = plan_.steps[visit.step];
    std::vector<void*> parameters = ParametersOf(*step.device_launch, visit.addresses);
    KernelLaunch kernel = is_empty ? Nothing() : KernelOf(visit.step);
    if (!is_empty) kernel.parameters = parameters.data();
    const bool waits = !is_empty && (step.launch->flags & HONE_LAUNCH_WAITS) != 0;
    graph->Add(kernel, dependencies[number++], waits);
    return true;
  });
}

GraphExec CudaSequence::MakeGraph(int64_t runs, bool is_empty) {
  const std::vector<std::vector<size_t>> dependencies = LaunchDependencies(plan_);
  const auto make = [&](bool starts_early, GraphExec* exec) {
    LaunchGraph graph(device_.api(), starts_early);
    for (int64_t run = 0; run < runs; ++run) {
      if (run > 0) graph.EndRun();
      AddRun(dependencies, is_empty, &graph);
    }
    return graph.Instantiate(exec);
  };
  GraphExec exec = nullptr;
  Result result = make(device_.starts_early(), &exec);
  if (result != kSuccess && result != kOutOfMemory && device_.starts_early()) {
    result = make(/*starts_early=*/false, &exec);
    if (result == kSuccess) device_.StartNothingEarly();
  }
  return device_.Check(result, "making a graph") ? exec : nullptr;
}

bool CudaSequence::Start() {
  if (!has_run_ || VisitCount(plan_) > kMostNodes) {
    has_run_ = true;
    return WalkSteps(plan_, [this](const StepVisit& visit) { return LaunchStep(visit); });
  }
  if (graph_ == nullptr) graph_ = MakeGraph(/*runs=*/1, /*is_empty=*/false);
  return graph_ != nullptr &&
         device_.Check(device_.api().GraphLaunch(graph_, device_.stream()), "running the model");
}

void CudaSequence::Run() {
  if (device_.has_failed()) return;
  const InContext in_context(device_);
  if (Start()) device_.Synchronize("running the model");
}

int64_t CudaSequence::RunsAtOnce(int64_t runs) {
  const int64_t visits = std::max<int64_t>(VisitCount(plan_), 1);
  const int64_t at_once = (kTimedNodes + visits - 1) / visits;
  if (at_once == 1 || runs < at_once || graph_ == nullptr) return 1;
  if (several_ == nullptr) {
    several_ = MakeGraph(at_once, /*is_empty=*/false);
    // A driver may load a graph when that is first launched.
    if (several_ != nullptr) device_.api().GraphLaunch(several_, device_.stream());
  }
  return several_ != nullptr ? at_once : 1;
}

double CudaSequence::Time(int64_t runs) {
  if (device_.has_failed()) return 0;
  const InContext in_context(device_);
  // Ahead of the clock, so that it sees what later runs take.
  while (!has_run_ || (graph_ == nullptr && VisitCount(plan_) <= kMostNodes)) {
    if (!Start()) return 0;
  }
  const int64_t at_once = RunsAtOnce(runs);
  if (!device_.Synchronize("running the model")) return 0;
  const auto start = std::chrono::steady_clock::now();
  int64_t left = runs;
  for (; left >= at_once && at_once > 1; left -= at_once) {
    if (!device_.Check(device_.api().GraphLaunch(several_, device_.stream()),
                       "running the model")) {
      break;
    }
  }
  for (; left > 0 && !device_.has_failed(); --left) {
    if (!Start()) break;
  }
  device_.Synchronize("running the model");
  return SecondsSince(start);
}

double CudaSequence::TimeWithoutKernels(int64_t runs) {
  if (device_.has_failed()) return 0;
  const InContext in_context(device_);
  const bool is_graph = VisitCount(plan_) <= kMostNodes;
  // A driver may load a kernel at its first launch, and a graph when that is first launched.
  if (!LaunchNothing()) return 0;
  const GraphExec graph = is_graph ? MakeGraph(/*runs=*/1, /*is_empty=*/true) : nullptr;
  if (graph != nullptr) {
    device_.Check(device_.api().GraphLaunch(graph, device_.stream()), "running nothing");
  }
  if (!device_.Synchronize("running nothing")) return 0;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < runs && !device_.has_failed(); ++i) {
    if (is_graph) {
      device_.Check(device_.api().GraphLaunch(graph, device_.stream()), "running nothing");
    } else {
      WalkSteps(plan_, [this](const StepVisit&) { return LaunchNothing(); });
    }
  }
  device_.Synchronize("running nothing");
  const double seconds = SecondsSince(start);
  if (graph != nullptr) device_.api().GraphExecDestroy(graph);
  return seconds;
}

void CudaSequence::RunTimed(std::vector<double>& call_ns) {
  if (device_.has_failed()) return;
  const InContext in_context(device_);
  Events events(device_.api());
  std::vector<uint32_t> calls;  // of the launches, in their order
  const auto record = [&] {
    return device_.Check(events.Record(device_.stream()), "timing a launch");
  };
  const bool is_launched = record() && WalkSteps(plan_, [&](const StepVisit& visit) {
                             calls.push_back(plan_.steps[visit.step].call);
                             return LaunchStep(visit) && record();
                           });
  if (!is_launched || !device_.Synchronize("running the model")) return;
  for (size_t i = 0; i < calls.size(); ++i) {
    double ns = 0;
    if (!device_.Check(events.Nanoseconds(i, &ns), "timing a launch")) return;
    call_ns[calls[i]] += ns;
  }
}

}  // namespace hone::cuda
