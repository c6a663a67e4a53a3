#include "runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hone {
namespace {

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::unique_ptr<Executor> Executor::Make(const Module& module, const hone_function& function,
                                         int threads, std::string* error) {
  return Make(module, function, std::make_shared<ThreadTeam>(threads), error);
}

std::unique_ptr<Executor> Executor::Make(const Module& module, const hone_function& function,
                                         std::shared_ptr<ThreadTeam> team, std::string* error) {
  if (!team->error().empty()) {
    *error = team->error();
    return nullptr;
  }
  std::unique_ptr<Executor> executor(new Executor(module, function, std::move(team)));
  if (!executor->Allocate(error)) return nullptr;
  executor->MakeSteps();
  executor->ResolveBuffers();
  return executor;
}

Executor::Executor(const Module& module, const hone_function& function,
                   std::shared_ptr<ThreadTeam> team)
    : module_(module), function_(function), team_(std::move(team)) {}

bool Executor::Allocate(std::string* error) {
  uint64_t scratch_bytes = 0;
  for (uint32_t c = 0; c < function_.call_count; ++c) {
    const hone_kernel& kernel = module_.table().kernels[function_.calls[c].kernel];
    for (uint32_t l = 0; l < kernel.launch_count; ++l) {
      scratch_bytes = std::max(scratch_bytes, kernel.launches[l].scratch_bytes);
    }
  }
  bool ok = true;
  const auto allocate = [&](uint64_t size_bytes, const std::string& what) {
    Memory memory(size_bytes);
    if (ok && size_bytes != 0 && memory.data() == nullptr) {
      ok = false;
      *error = "expected " + std::to_string(size_bytes) + " bytes for " + what +
               ", found less free memory";
    }
    return memory;
  };
  arena_ = allocate(function_.arena_bytes, "activations");
  for (int thread = 0; thread < team_->threads(); ++thread)
    scratch_.push_back(allocate(scratch_bytes, "the scratch of a thread"));
  for (uint32_t i = 0; i < function_.input_count; ++i) {
    const hone_value& input = function_.inputs[i];
    own_inputs_.push_back(allocate(input.size_bytes, "input " + std::string(input.name)));
    inputs_.push_back(own_inputs_.back().data());
  }
  for (uint32_t i = 0; i < function_.output_count; ++i) {
    const hone_value& output = function_.outputs[i];
    own_outputs_.push_back(allocate(output.size_bytes, "output " + std::string(output.name)));
    outputs_.push_back(own_outputs_.back().data());
  }
  return ok;
}

void Executor::MakeSteps() {
  BarrierPlan barriers;
  size_t first_buffer = 0;
  for (uint32_t c = 0; c < function_.call_count; ++c) {
    const hone_call& call = function_.calls[c];
    const hone_kernel& kernel = module_.table().kernels[call.kernel];
    bool first = true;
    for (uint32_t l = 0; l < kernel.launch_count; ++l) {
      const hone_launch& launch = kernel.launches[l];
      if (launch.phase != HONE_PHASE_RUN) continue;
      const bool wants_barrier = first ? call.barrier_before != 0 : launch.barrier_before != 0;
      first = false;
      steps_.push_back({LaunchStep::Next(launch, wants_barrier, barriers), first_buffer, c});
    }
    first_buffer += kernel.buffer_count;
  }
}

void* Executor::Resolve(const hone_location& location) const {
  uint8_t* base = nullptr;
  switch (location.space) {
    case HONE_SPACE_ARENA:
      base = arena_.data();
      break;
    case HONE_SPACE_PARAMETERS:
      base = const_cast<uint8_t*>(module_.parameters());
      break;
    case HONE_SPACE_INPUT:
      base = static_cast<uint8_t*>(inputs_[location.index]);
      break;
    case HONE_SPACE_OUTPUT:
      base = static_cast<uint8_t*>(outputs_[location.index]);
      break;
    default:
      return nullptr;
  }
  return base + location.offset_bytes;
}

void Executor::ResolveBuffers() {
  buffers_.clear();
  for (uint32_t c = 0; c < function_.call_count; ++c) {
    const hone_call& call = function_.calls[c];
    const uint32_t count = module_.table().kernels[call.kernel].buffer_count;
    for (uint32_t b = 0; b < count; ++b) buffers_.push_back(Resolve(call.locations[b]));
  }
}

void Executor::BindInput(uint32_t index, void* data) {
  inputs_[index] = data != nullptr ? data : own_inputs_[index].data();
  ResolveBuffers();
}

void Executor::BindOutput(uint32_t index, void* data) {
  outputs_[index] = data != nullptr ? data : own_outputs_[index].data();
  ResolveBuffers();
}

inline void Executor::RunStep(const Step& step, int thread, SubnormalMode& mode) {
  step.launch.Run(buffers_.data() + step.first_buffer, thread, team_->threads(),
                  scratch_[thread].data(), mode);
}

void Executor::Walk(int thread) {
  SubnormalMode mode;
  for (const Step& step : steps_) {
    if (step.launch.barrier_before) team_->Barrier();
    RunStep(step, thread, mode);
  }
}

void Executor::WalkAlone() {
  void* const scratch = scratch_[0].data();
  SubnormalMode mode;
  for (const Step& step : steps_) {
    step.launch.RunAll(buffers_.data() + step.first_buffer, scratch, mode);
  }
}

void Executor::Run() {
  if (team_->threads() == 1) return WalkAlone();
  team_->Run([](void* self, int thread) { static_cast<Executor*>(self)->Walk(thread); }, this);
}

double Executor::Time(int64_t runs) {
  const int64_t start_ns = NowNs();
  for (int64_t i = 0; i < runs; ++i) Run();
  return static_cast<double>(NowNs() - start_ns) * 1e-9;
}

double Executor::TimeCall(uint32_t call, int64_t runs) {
  std::vector<Step> all = std::move(steps_);
  steps_.clear();
  std::vector<Step> own;
  for (const Step& step : all) {
    if (step.call < call) steps_.push_back(step);
    if (step.call == call) own.push_back(step);
  }
  // What a whole run leaves in a buffer may be a later call's: of another type, even.
  Run();
  if (!own.empty()) own[0].launch.barrier_before = false;  // entering the team is one
  steps_ = std::move(own);
  const double seconds = Time(runs);
  steps_ = std::move(all);
  return seconds;
}

double Executor::TimeWithoutKernels(int64_t runs) {
  const std::vector<Step> all = steps_;
  for (Step& step : steps_) step.launch.function = [](void* const*, int64_t, int64_t, void*) {};
  const double seconds = Time(runs);
  steps_ = all;
  return seconds;
}

void Executor::WalkTimed(int thread, std::vector<double>* call_ns) {
  SubnormalMode mode;
  int64_t before_ns = NowNs();
  for (const Step& step : steps_) {
    RunStep(step, thread, mode);
    team_->Barrier();
    if (thread == 0) {
      const int64_t now_ns = NowNs();
      (*call_ns)[step.call] += static_cast<double>(now_ns - before_ns);
      before_ns = now_ns;
    }
  }
}

std::vector<double> Executor::Profile(int runs) {
  std::vector<std::vector<double>> samples(function_.call_count);
  struct Context {
    Executor* executor;
    std::vector<double> call_ns;
  };
  Context context{this, {}};
  for (int run = 0; run < runs; ++run) {
    context.call_ns.assign(function_.call_count, 0);
    team_->Run(
        [](void* c, int thread) {
          auto* inner = static_cast<Context*>(c);
          inner->executor->WalkTimed(thread, &inner->call_ns);
        },
        &context);
    for (uint32_t c = 0; c < function_.call_count; ++c) samples[c].push_back(context.call_ns[c]);
  }
  std::vector<double> medians;
  for (std::vector<double>& of_call : samples) {
    const auto middle = of_call.begin() + static_cast<int64_t>(of_call.size() / 2);
    std::nth_element(of_call.begin(), middle, of_call.end());
    medians.push_back(of_call.empty() ? 0 : *middle);
  }
  return medians;
}

}  // namespace hone
