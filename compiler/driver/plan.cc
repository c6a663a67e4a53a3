#include "compiler/driver/plan.h"

#include <utility>

#include "compiler/driver/views.h"
#include "compiler/passes/memory_plan.h"
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

passes::MemoryPlan PlanArena(const Specialisation& graph, const std::vector<loop::Nest>& nests) {
  std::vector<passes::PlannedCall> calls;
  for (const KernelCall& call : graph.calls) {
    calls.push_back({.reads = call.args,
                     .writes = call.results,
                     .workspace_bytes = WorkspaceBytes(nests[call.kernel])});
  }
  return passes::PlanMemory(PlannedValuesOf(graph.values), calls);
}

codegen::Location LocationOf(const Specialisation& graph, const passes::MemoryPlan& plan, int id) {
  const Value& value = graph.values[passes::PlaceOf(graph.values, id).value];
  const uint64_t offset_bytes = plan.value_offsets[id];
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
                           const ParameterPlan::Offsets& parameters) {
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
        location = LocationOf(graph, plan, call.args[next_arg++]);
        break;
      case loop::Role::kOutput:
        location = LocationOf(graph, plan, call.results[next_result++]);
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

codegen::ValueSpec SpecOf(const Value& value) {
  return {.name = value.name, .dtype = value.type.dtype, .shape = value.type.shape};
}

}  // namespace

PlannedFunction PlanFunction(const Specialisation& graph, const std::vector<loop::Nest>& nests,
                             const ParameterPlan::Offsets& parameters) {
  const passes::MemoryPlan plan = PlanArena(graph, nests);
  codegen::FunctionSpec function;
  for (int id : graph.inputs) function.inputs.push_back(SpecOf(graph.values[id]));
  for (int id : graph.outputs) function.outputs.push_back(SpecOf(graph.values[id]));
  for (size_t c = 0; c < graph.calls.size(); ++c) {
    function.calls.push_back(PlanCall(graph, plan, c, nests[graph.calls[c].kernel], parameters));
  }
  function.arena_bytes = plan.arena_bytes;
  return {.spec = std::move(function), .peak_live_bytes = plan.peak_live_bytes};
}

}  // namespace hone::driver
