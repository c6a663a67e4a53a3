#include "compiler/driver/plan.h"

#include <utility>

#include "compiler/driver/views.h"
#include "runtime/memory.h"
#include "runtime/module_abi.h"

namespace hone::driver {
namespace {

uint64_t WorkspaceBytes(const loop::Nest& nest) {
  uint64_t bytes = 0;
  for (const loop::Buffer& buffer : nest.buffers) {
    if (buffer->role == loop::Role::kWorkspace) bytes += AlignedBytes(buffer->SizeBytes());
  }
  return bytes;
}

passes::MemoryPlan PlanArena(const Specialisation& graph, const std::vector<loop::Nest>& nests,
                             passes::CallOrder order) {
  std::vector<passes::PlannedCall> calls;
  for (const KernelCall& call : graph.calls) {
    calls.push_back({.reads = call.args,
                     .writes = call.results,
                     .workspace_bytes = WorkspaceBytes(nests[call.kernel]),
                     .repeat = call.repeat});
  }
  return passes::PlanMemory(PlannedValuesOf(graph.values), calls, order);
}

// In a trip of the value's repeat; 0 outside of repeats.
codegen::Location LocationOf(const Specialisation& graph, const passes::MemoryPlan& plan, int id,
                             int64_t trip) {
  const passes::Place place = passes::PlaceInTrip(graph.values, id, trip);
  const Value& value = graph.values[place.value];
  const uint64_t offset_bytes = plan.value_offsets[place.value] + place.offset_bytes;
  switch (value.kind) {
    case Value::Kind::kInput:
      return {.space = HONE_SPACE_INPUT, .index = value.index, .offset_bytes = offset_bytes};
    case Value::Kind::kOutput:
      return {.space = HONE_SPACE_OUTPUT, .index = value.index, .offset_bytes = offset_bytes};
    default:
      return {.space = HONE_SPACE_ARENA, .index = 0, .offset_bytes = offset_bytes};
  }
}

codegen::CallSpec PlanCall(const Specialisation& graph, const passes::MemoryPlan& plan,
                           size_t index, const loop::Nest& nest,
                           const ParameterPlan::Offsets& parameters, int64_t trip) {
  const KernelCall& call = graph.calls[index];
  codegen::CallSpec spec{
      .kernel = call.kernel, .barrier_before = plan.barrier_before[index], .locations = {}};
  uint64_t workspace_offset = plan.workspace_offsets[index];
  size_t next_arg = 0;
  size_t next_result = 0;
  for (size_t b = 0; b < nest.buffers.size(); ++b) {
    const loop::BufferNode& buffer = *nest.buffers[b];
    codegen::Location location;
    switch (buffer.role) {
      case loop::Role::kInput:
        location = LocationOf(graph, plan, call.args[next_arg++], trip);
        break;
      case loop::Role::kOutput:
        location = LocationOf(graph, plan, call.results[next_result++], trip);
        break;
      case loop::Role::kWorkspace:
        location = {.space = HONE_SPACE_ARENA, .index = 0, .offset_bytes = workspace_offset};
        workspace_offset += AlignedBytes(buffer.SizeBytes());
        break;
      case loop::Role::kConstant:
        ++next_arg;
        [[fallthrough]];
      case loop::Role::kPrepared:
        if (const auto offset = parameters[index][b]) {
          location = {.space = HONE_SPACE_PARAMETERS, .index = 0, .offset_bytes = *offset};
        }
        break;
    }
    spec.locations.push_back(location);
  }
  return spec;
}

// How the buffers of a call move: where they lie in trips 1, 2 and 3 tells it for all.
void AddMoves(const codegen::CallSpec& one, const codegen::CallSpec& two,
              const codegen::CallSpec& three, std::vector<codegen::MoveSpec>* moves) {
  for (size_t b = 0; b < one.locations.size(); ++b) {
    const uint64_t from = one.locations[b].offset_bytes;
    moves->push_back({.next = one.locations[b],
                      .stride_bytes = static_cast<int64_t>(two.locations[b].offset_bytes - from),
                      .alternates = two.locations[b].offset_bytes != from &&
                                    three.locations[b].offset_bytes == from});
  }
}

codegen::ValueSpec SpecOf(const Value& value) {
  return {.name = value.name, .dtype = value.type.dtype, .shape = value.type.shape};
}

}  // namespace

PlannedFunction PlanFunction(const Specialisation& graph, const std::vector<loop::Nest>& nests,
                             const ParameterPlan::Offsets& parameters, passes::CallOrder order) {
  const passes::MemoryPlan plan = PlanArena(graph, nests, order);
  codegen::FunctionSpec function;
  for (int id : graph.inputs) function.inputs.push_back(SpecOf(graph.values[id]));
  for (int id : graph.outputs) function.outputs.push_back(SpecOf(graph.values[id]));
  for (size_t c = 0; c < graph.calls.size(); ++c) {
    const KernelCall& call = graph.calls[c];
    const auto in_trip = [&](int64_t trip) {
      return PlanCall(graph, plan, c, nests[call.kernel], parameters, trip);
    };
    function.calls.push_back(in_trip(0));
    if (call.repeat < 0) continue;
    if (c == 0 || graph.calls[c - 1].repeat != call.repeat) {
      function.repeats.push_back({.first_call = static_cast<int>(c),
                                  .call_count = 0,
                                  .trips = graph.repeats[call.repeat].trips,
                                  .moves = {}});
    }
    codegen::RepeatSpec& repeat = function.repeats.back();
    ++repeat.call_count;
    AddMoves(in_trip(1), in_trip(2), in_trip(3), &repeat.moves);
  }
  function.arena_bytes = plan.arena_bytes;
  return {.spec = std::move(function), .peak_live_bytes = plan.peak_live_bytes};
}

}  // namespace hone::driver
