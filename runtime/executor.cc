#include "runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace hone {
namespace {

// Rows of a long sequence come from memory, each too short for processors to see that they follow
// one another. Longer ones are streams of their own.
constexpr uint64_t kMostPrefetchedBytes = 16 << 10;

void Prefetch(const uint8_t* begin, uint64_t bytes) {
  constexpr int kToRead = 0;
  constexpr int kSecondCache = 2;
  for (uint64_t at = 0; at < bytes; at += HONE_BUFFER_ALIGNMENT) {
    __builtin_prefetch(begin + at, kToRead, kSecondCache);
  }
}

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
  executor->MakeRepeats();
  executor->PlanBarriers();
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
      steps_.push_back({LaunchStep::Of(launch, wants_barrier), first_buffer, c});
    }
    first_buffer += kernel.buffer_count;
  }
}

void Executor::MakeRepeats() {
  const hone_module& table = module_.table();
  size_t most_buffers = 0;
  for (uint32_t r = 0; r < RepeatCount(table); ++r) {
    const hone_repeat& repeat = table.repeats[r];
    if (&table.functions[repeat.function] != &function_) continue;
    const uint32_t end_call = repeat.first_call + repeat.call_count;
    Repeat made{};
    made.trips = static_cast<int64_t>(repeat.trips);
    const auto step_of = [&](uint32_t call) {
      const auto at = std::find_if(steps_.begin(), steps_.end(),
                                   [&](const Step& step) { return step.call >= call; });
      return static_cast<size_t>(at - steps_.begin());
    };
    made.first_step = step_of(repeat.first_call);
    made.end_step = step_of(end_call);
    for (uint32_t c = 0; c < repeat.first_call; ++c) {
      made.first_buffer += table.kernels[function_.calls[c].kernel].buffer_count;
    }
    made.end_buffer = made.first_buffer;
    const hone_move* move = repeat.moves;
    for (uint32_t c = repeat.first_call; c < end_call; ++c) {
      const hone_call& call = function_.calls[c];
      const hone_kernel& kernel = table.kernels[call.kernel];
      for (uint32_t b = 0; b < kernel.buffer_count; ++b, ++move) {
        const size_t buffer = made.end_buffer++;
        const hone_location& from = call.locations[b];
        const bool stays = move->stride_bytes == 0 && move->next.space == from.space &&
                           move->next.index == from.index &&
                           move->next.offset_bytes == from.offset_bytes;
        const uint64_t bytes = move->alternates != 0 ? 0 : kernel.buffers[b].size_bytes;
        if (!stays) {
          made.movers.push_back({buffer, *move, std::min(bytes, kMostPrefetchedBytes), nullptr});
        }
      }
    }
    most_buffers = std::max(most_buffers, made.end_buffer - made.first_buffer);
    repeats_.push_back(std::move(made));
  }
  if (!repeats_.empty()) {
    moving_.assign(static_cast<size_t>(team_->threads()), std::vector<void*>(most_buffers));
  }
}

// The first step of a repeat comes after the last, too: what holds behind either is what it has to
// count on, and two rounds tell.
void Executor::PlanBarriers() {
  BarrierPlan barriers;
  size_t s = 0;
  const auto plan_to = [&](size_t end) {
    for (; s < end; ++s) steps_[s].launch = steps_[s].launch.Planned(barriers);
  };
  for (const Repeat& repeat : repeats_) {
    plan_to(repeat.first_step);
    for (int round = 0; round < 2; ++round) {
      const BarrierPlan before = barriers;
      for (size_t i = repeat.first_step; i < repeat.end_step; ++i) {
        steps_[i].launch.Planned(barriers);
      }
      barriers.Join(before);
    }
    plan_to(repeat.end_step);
  }
  plan_to(steps_.size());
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
  for (Repeat& repeat : repeats_) {
    for (Mover& mover : repeat.movers) mover.next = static_cast<uint8_t*>(Resolve(mover.move.next));
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

// From `trip` to the next.
inline void Executor::MoveBuffers(const Repeat& repeat, int64_t trip, void** pointers) {
  if (trip == 0) {
    for (const Mover& mover : repeat.movers)
      pointers[mover.buffer - repeat.first_buffer] = mover.next;
    return;
  }
  const bool back = trip % 2 == 0;
  for (const Mover& mover : repeat.movers) {
    void*& pointer = pointers[mover.buffer - repeat.first_buffer];
    const int64_t stride = mover.move.stride_bytes;
    uint8_t* const moved =
        static_cast<uint8_t*>(pointer) + (mover.move.alternates != 0 && back ? -stride : stride);
    pointer = moved;
    Prefetch(moved + stride, mover.prefetched_bytes);
  }
}

template <typename RunStep>
inline void Executor::WalkSteps(int thread, const RunStep& run) {
  size_t s = 0;
  const auto walk_to = [&](size_t end) {
    for (; s < end; ++s) run(steps_[s], buffers_.data() + steps_[s].first_buffer);
  };
  for (const Repeat& repeat : repeats_) {
    walk_to(repeat.first_step);
    if (repeat.first_step == repeat.end_step) continue;
    void** const pointers = moving_[static_cast<size_t>(thread)].data();
    std::copy(buffers_.begin() + static_cast<ptrdiff_t>(repeat.first_buffer),
              buffers_.begin() + static_cast<ptrdiff_t>(repeat.end_buffer), pointers);
    for (int64_t trip = 0; trip < repeat.trips; ++trip) {
      for (s = repeat.first_step; s < repeat.end_step; ++s) {
        run(steps_[s], pointers + (steps_[s].first_buffer - repeat.first_buffer));
      }
      if (trip + 1 < repeat.trips) MoveBuffers(repeat, trip, pointers);
    }
  }
  walk_to(steps_.size());
}

void Executor::Walk(int thread) {
  SubnormalMode mode;
  void* const scratch = scratch_[thread].data();
  WalkSteps(thread, [&](const Step& step, void* const* buffers) {
    if (step.launch.barrier_before) team_->Barrier();
    step.launch.Run(buffers, thread, team_->threads(), scratch, mode);
  });
}

void Executor::WalkAlone() {
  SubnormalMode mode;
  void* const scratch = scratch_[0].data();
  WalkSteps(0, [&](const Step& step, void* const* buffers) {
    step.launch.RunAll(buffers, scratch, mode);
  });
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
  const std::vector<Step> steps = steps_;
  const std::vector<Repeat> repeats = repeats_;
  // Only the steps of which `stays` holds.
  const auto keep = [&](const auto& stays) {
    steps_.clear();
    repeats_ = repeats;
    const auto count_before = [&](size_t end) {
      return static_cast<size_t>(
          std::count_if(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(end), stays));
    };
    for (Repeat& repeat : repeats_) {
      repeat.first_step = count_before(repeat.first_step);
      repeat.end_step = count_before(repeat.end_step);
    }
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(steps_), stays);
  };
  // What a whole run leaves in a buffer may be a later call's: of another type, even.
  keep([&](const Step& step) { return step.call < call; });
  Run();
  keep([&](const Step& step) { return step.call == call; });
  const auto repeated = [](const Repeat& repeat) { return repeat.end_step > repeat.first_step; };
  // Entering the team is one.
  if (!steps_.empty() && std::none_of(repeats_.begin(), repeats_.end(), repeated)) {
    steps_[0].launch.barrier_before = false;
  }
  const double seconds = Time(runs);
  steps_ = steps;
  repeats_ = repeats;
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
  void* const scratch = scratch_[thread].data();
  int64_t before_ns = NowNs();
  WalkSteps(thread, [&](const Step& step, void* const* buffers) {
    step.launch.Run(buffers, thread, team_->threads(), scratch, mode);
    team_->Barrier();
    if (thread == 0) {
      const int64_t now_ns = NowNs();
      (*call_ns)[step.call] += static_cast<double>(now_ns - before_ns);
      before_ns = now_ns;
    }
  });
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
