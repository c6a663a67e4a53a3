#include "runtime/executor.h"

#include <algorithm>
#include <utility>

#include "runtime/cpu_device.h"

namespace hone {

std::unique_ptr<Executor> Executor::Make(const Module& module, const hone_function& function,
                                         int threads, std::string* error) {
  return Make(module, function, std::make_shared<CpuDevice>(std::make_shared<ThreadTeam>(threads)),
              error);
}

std::unique_ptr<Executor> Executor::Make(const Module& module, const hone_function& function,
                                         std::shared_ptr<Device> device, std::string* error) {
  std::shared_ptr<LoadedModule> loaded = device->Load(module, error);
  if (!loaded) return nullptr;
  return Make(module, function, std::move(device), std::move(loaded), error);
}

std::unique_ptr<Executor> Executor::Make(const Module& module, const hone_function& function,
                                         std::shared_ptr<Device> device,
                                         std::shared_ptr<LoadedModule> loaded, std::string* error) {
  std::unique_ptr<Executor> executor(
      new Executor(module, function, std::move(device), std::move(loaded)));
  if (!executor->Allocate(error)) return nullptr;
  executor->PlanSteps();
  executor->PlanRepeats();
  executor->ResolveBuffers();
  executor->sequence_ = executor->loaded_->MakeSequence(executor->plan_, error);
  return executor->sequence_ ? std::move(executor) : nullptr;
}

Executor::Executor(const Module& module, const hone_function& function,
                   std::shared_ptr<Device> device, std::shared_ptr<LoadedModule> loaded)
    : module_(module),
      function_(function),
      device_(std::move(device)),
      loaded_(std::move(loaded)),
      copies_(function.output_count) {}

bool Executor::Allocate(std::string* error) {
  bool ok = true;
  const auto allocate = [&](uint64_t size_bytes, const std::string& what) {
    std::unique_ptr<DeviceMemory> memory;
    if (ok && size_bytes != 0) {
      memory = device_->Allocate(size_bytes);
      if (!memory) {
        ok = false;
        *error = "expected " + std::to_string(size_bytes) + " bytes for " + what +
                 ", found less free memory";
      }
    }
    return Block(std::move(memory));
  };
  arena_ = allocate(function_.arena_bytes, "activations");
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

void Executor::PlanSteps() {
  const hone_module& table = module_.table();
  const std::vector<const hone_device_launch*> device_launches = DeviceLaunchesOf(table);
  size_t first_buffer = 0;
  for (uint32_t c = 0; c < function_.call_count; ++c) {
    const hone_call& call = function_.calls[c];
    const hone_kernel& kernel = table.kernels[call.kernel];
    const hone_device_launch* const of_device = device_launches[call.kernel];
    bool first = true;
    for (uint32_t l = 0; l < kernel.launch_count; ++l) {
      const hone_launch& launch = kernel.launches[l];
      if (launch.phase != HONE_PHASE_RUN) continue;
      const bool wants_barrier = first ? call.barrier_before != 0 : launch.barrier_before != 0;
      first = false;
      plan_.steps.push_back({.launch = &launch,
                             .device_launch = of_device != nullptr ? of_device + l : nullptr,
                             .buffers = kernel.buffers,
                             .wants_barrier = wants_barrier,
                             .call = c,
                             .first_buffer = first_buffer});
    }
    first_buffer += kernel.buffer_count;
  }
}

void Executor::PlanRepeats() {
  const hone_module& table = module_.table();
  for (uint32_t r = 0; r < RepeatCount(table); ++r) {
    const hone_repeat& repeat = table.repeats[r];
    if (&table.functions[repeat.function] != &function_) continue;
    SequenceRepeat planned = RepeatOf(repeat);
    const hone_move* move = repeat.moves;
    for (uint32_t c = repeat.first_call; c < repeat.first_call + repeat.call_count; ++c) {
      const hone_call& call = function_.calls[c];
      const hone_kernel& kernel = table.kernels[call.kernel];
      for (uint32_t b = 0; b < kernel.buffer_count; ++b, ++move) {
        const size_t buffer = planned.end_buffer++;
        const hone_location& from = call.locations[b];
        const bool stays = move->stride_bytes == 0 && move->next.space == from.space &&
                           move->next.index == from.index &&
                           move->next.offset_bytes == from.offset_bytes;
        if (stays) continue;
        planned.moves.push_back({.buffer = buffer,
                                 .stride_bytes = move->stride_bytes,
                                 .alternates = move->alternates != 0,
                                 .size_bytes = kernel.buffers[b].size_bytes});
        next_places_.push_back(move->next);
      }
    }
    plan_.repeats.push_back(std::move(planned));
  }
}

// Without its buffers' end and moves.
SequenceRepeat Executor::RepeatOf(const hone_repeat& repeat) const {
  const auto step_of = [&](uint32_t call) {
    const auto at = std::find_if(plan_.steps.begin(), plan_.steps.end(),
                                 [&](const SequenceStep& step) { return step.call >= call; });
    return static_cast<size_t>(at - plan_.steps.begin());
  };
  SequenceRepeat planned;
  planned.trips = static_cast<int64_t>(repeat.trips);
  planned.first_step = step_of(repeat.first_call);
  planned.end_step = step_of(repeat.first_call + repeat.call_count);
  for (uint32_t c = 0; c < repeat.first_call; ++c) {
    planned.first_buffer += module_.table().kernels[function_.calls[c].kernel].buffer_count;
  }
  planned.end_buffer = planned.first_buffer;
  return planned;
}

void* Executor::Resolve(const hone_location& location) const {
  void* base = nullptr;
  switch (location.space) {
    case HONE_SPACE_ARENA:
      base = arena_.data();
      break;
    case HONE_SPACE_PARAMETERS:
      base = loaded_->parameters();
      break;
    case HONE_SPACE_INPUT:
      base = inputs_[location.index];
      break;
    case HONE_SPACE_OUTPUT:
      base = outputs_[location.index];
      break;
    default:
      return nullptr;
  }
  return static_cast<uint8_t*>(base) + location.offset_bytes;
}

void Executor::ResolveBuffers() {
  buffers_.clear();
  for (uint32_t c = 0; c < function_.call_count; ++c) {
    const hone_call& call = function_.calls[c];
    const uint32_t count = module_.table().kernels[call.kernel].buffer_count;
    for (uint32_t b = 0; b < count; ++b) buffers_.push_back(Resolve(call.locations[b]));
  }
  plan_.addresses = buffers_.data();
  size_t next = 0;
  for (SequenceRepeat& repeat : plan_.repeats) {
    for (SequenceMove& move : repeat.moves) move.next = Resolve(next_places_[next++]);
  }
}

void Executor::BindInput(uint32_t index, void* data) {
  inputs_[index] = data != nullptr ? data : own_inputs_[index].data();
  ResolveBuffers();
  sequence_->AddressesChanged();
}

void Executor::BindOutput(uint32_t index, void* data) {
  outputs_[index] = data != nullptr ? data : own_outputs_[index].data();
  ResolveBuffers();
  sequence_->AddressesChanged();
}

const void* Executor::ReadOutput(uint32_t index) {
  const uint64_t size_bytes = function_.outputs[index].size_bytes;
  if (device_->is_host() || size_bytes == 0) return outputs_[index];
  std::vector<uint8_t>& copy = copies_[index];
  copy.resize(size_bytes);
  device_->CopyOut(copy.data(), outputs_[index], size_bytes);
  return copy.data();
}

template <typename Stays>
SequencePlan Executor::OnlySteps(const Stays& stays) const {
  SequencePlan only;
  only.addresses = plan_.addresses;
  only.repeats = plan_.repeats;
  const auto count_before = [&](size_t end) {
    const auto begin = plan_.steps.begin();
    return static_cast<size_t>(std::count_if(begin, begin + static_cast<ptrdiff_t>(end), stays));
  };
  for (SequenceRepeat& repeat : only.repeats) {
    repeat.first_step = count_before(repeat.first_step);
    repeat.end_step = count_before(repeat.end_step);
  }
  std::copy_if(plan_.steps.begin(), plan_.steps.end(), std::back_inserter(only.steps), stays);
  return only;
}

double Executor::TimeCall(uint32_t call, int64_t runs, std::string* error) {
  // What a whole run leaves in a buffer may be a later call's: of another type, even.
  const SequencePlan before = OnlySteps([&](const SequenceStep& step) { return step.call < call; });
  const std::unique_ptr<LaunchSequence> leading = loaded_->MakeSequence(before, error);
  SequencePlan alone = OnlySteps([&](const SequenceStep& step) { return step.call == call; });
  const auto repeated = [](const SequenceRepeat& repeat) {
    return repeat.end_step > repeat.first_step;
  };
  // Entering the sequence is a barrier.
  if (!alone.steps.empty() && std::ranges::none_of(alone.repeats, repeated)) {
    alone.steps[0].wants_barrier = false;
  }
  const std::unique_ptr<LaunchSequence> timed = loaded_->MakeSequence(alone, error);
  if (!leading || !timed) return -1;
  leading->Run();
  return timed->Time(runs);
}

std::vector<double> Executor::Profile(int runs) {
  std::vector<std::vector<double>> samples(function_.call_count);
  std::vector<double> call_ns;
  for (int run = 0; run < runs; ++run) {
    call_ns.assign(function_.call_count, 0);
    sequence_->RunTimed(call_ns);
    for (uint32_t c = 0; c < function_.call_count; ++c) samples[c].push_back(call_ns[c]);
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
