#include "runtime/cuda/cuda_sequence.h"

#include <algorithm>
#include <chrono>

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

bool CudaSequence::LaunchStep(const StepVisit& visit) {
  const hone_device_launch& launch = *plan_.steps[visit.step].device_launch;
  std::vector<void*> parameters;  // the driver takes the place of each argument
  for (uint32_t a = 0; a < launch.argument_count; ++a) {
    parameters.push_back(const_cast<void**>(visit.addresses + launch.arguments[a]));
  }
  return device_.Check(
      device_.api().LaunchKernel(functions_[visit.step], launch.blocks[0], launch.blocks[1],
                                 launch.blocks[2], launch.threads[0], launch.threads[1],
                                 launch.threads[2], static_cast<unsigned>(launch.shared_bytes),
                                 device_.stream(), parameters.data(), nullptr),
      std::string("launching ") + launch.entry);
}

bool CudaSequence::LaunchNothing(const StepVisit& /*visit*/) {
  return device_.Check(device_.api().LaunchKernel(module_.nothing(), 1, 1, 1, 1, 1, 1, 0,
                                                  device_.stream(), nullptr, nullptr),
                       "launching nothing");
}

GraphExec CudaSequence::Record(const Launch& launch, int64_t runs) {
  const CudaApi& api = device_.api();
  const Stream stream = device_.stream();
  if (!device_.Check(api.StreamBeginCapture(stream, kCaptureModeThreadLocal), "recording")) {
    return nullptr;
  }
  bool is_recorded = true;
  for (int64_t i = 0; i < runs && is_recorded; ++i) is_recorded = WalkSteps(plan_, launch);
  Graph graph = nullptr;
  const bool is_ended = device_.Check(api.StreamEndCapture(stream, &graph), "recording");
  GraphExec exec = nullptr;
  if (is_recorded && is_ended) {
    device_.Check(api.GraphInstantiateWithFlags(&exec, graph, 0), "making a graph");
  }
  if (graph != nullptr) api.GraphDestroy(graph);
  return exec;
}

bool CudaSequence::Start() {
  const Launch launch = [this](const StepVisit& visit) { return LaunchStep(visit); };
  if (!has_run_ || VisitCount(plan_) > kMostNodes) {
    has_run_ = true;
    return WalkSteps(plan_, launch);
  }
  if (graph_ == nullptr) graph_ = Record(launch);
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
    several_ = Record([this](const StepVisit& visit) { return LaunchStep(visit); }, at_once);
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
  const Launch launch = [this](const StepVisit& visit) { return LaunchNothing(visit); };
  const bool is_graph = VisitCount(plan_) <= kMostNodes;
  // A driver may load a kernel at its first launch, which must not be while it records, and a graph
  // when that is first launched.
  if (!LaunchNothing({})) return 0;
  const GraphExec graph = is_graph ? Record(launch) : nullptr;
  if (graph != nullptr) {
    device_.Check(device_.api().GraphLaunch(graph, device_.stream()), "running nothing");
  }
  if (!device_.Synchronize("running nothing")) return 0;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < runs && !device_.has_failed(); ++i) {
    if (is_graph) {
      device_.Check(device_.api().GraphLaunch(graph, device_.stream()), "running nothing");
    } else {
      WalkSteps(plan_, launch);
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
