#include "compiler/driver/prepare.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "compiler/codegen/codegen.h"
#include "compiler/loop/visit.h"
#include "fmt/format.h"
#include "runtime/host.h"
#include "runtime/kernel_runner.h"
#include "runtime/module.h"
#include "support/status.h"

namespace hone::driver {
namespace {

// Bytes that own themselves.
ir::ConstantData Owned(Memory memory) {
  auto owner = std::make_shared<Memory>(std::move(memory));
  return {.owner = owner, .bytes = owner->data(), .size_bytes = owner->size_bytes()};
}

uint64_t SizeOf(const loop::BufferNode& buffer) {
  return static_cast<uint64_t>(buffer.layout.ElementCount(buffer.shape)) *
         static_cast<uint64_t>(SizeBytes(buffer.dtype));
}

// The prepare launches of the kernels that have some, built for this machine.
struct HostModule {
  std::unique_ptr<Module> module;           // null where no kernel has any
  std::vector<const hone_kernel*> kernels;  // of the graph; null for those without
};

absl::StatusOr<HostModule> BuildForHost(const KernelGraph& graph,
                                        const std::vector<loop::Nest>& nests) {
  codegen::ModuleSpec spec;
  HONE_ASSIGN_OR_RETURN(spec.target, Target::Parse(HostTargetText(1)));
  std::vector<int> index(nests.size(), -1);
  for (size_t k = 0; k < nests.size(); ++k) {
    loop::Nest nest = OnlyPhase(nests[k], loop::Phase::kPrepare);
    if (nest.launches.empty()) continue;
    index[k] = static_cast<int>(spec.kernels.size());
    codegen::KernelSpec kernel;
    kernel.name = graph.kernels[k].name;
    kernel.nest = std::move(nest);
    spec.kernels.push_back(std::move(kernel));
  }
  HostModule host{.module = nullptr,
                  .kernels = std::vector<const hone_kernel*>(nests.size(), nullptr)};
  if (spec.kernels.empty()) return host;
  HONE_ASSIGN_OR_RETURN(const std::string elf, codegen::BuildModule(spec));
  std::string error;
  host.module = Module::OpenBytes(elf.data(), elf.size(), &error);
  if (!host.module) return absl::InternalError(error);
  for (size_t k = 0; k < nests.size(); ++k) {
    if (index[k] >= 0) host.kernels[k] = &host.module->table().kernels[index[k]];
  }
  return host;
}

// Where the constants of a call lie; null for its other operands.
std::vector<const uint8_t*> ConstantsRead(const Specialisation& graph, const KernelCall& call) {
  std::vector<const uint8_t*> bytes;
  for (const int id : call.args) bytes.push_back(graph.values[id].data.bytes);
  return bytes;
}

// The constants of one call, in its kernel's buffers.
absl::StatusOr<CallConstants> PrepareCall(const Specialisation& graph, const KernelCall& call,
                                          const loop::Nest& nest, const hone_kernel* kernel,
                                          ThreadTeam& team) {
  std::vector<ir::ConstantData> constants(nest.buffers.size());
  std::vector<void*> pointers(nest.buffers.size(), nullptr);
  size_t next_arg = 0;
  for (size_t b = 0; b < nest.buffers.size(); ++b) {
    const loop::BufferNode& buffer = *nest.buffers[b];
    if (buffer.role == loop::Role::kInput) ++next_arg;
    if (buffer.role == loop::Role::kConstant) {
      const Value& value = graph.values[call.args[next_arg++]];
      if (value.data.size_bytes != SizeOf(buffer)) {
        return absl::InternalError(fmt::format("constant {} of kernel {} has {} bytes, expected {}",
                                               buffer.name, nest.name, value.data.size_bytes,
                                               SizeOf(buffer)));
      }
      constants[b] = value.data;
      pointers[b] = const_cast<uint8_t*>(value.data.bytes);
    }
    if (buffer.role == loop::Role::kPrepared) {
      Memory memory(SizeOf(buffer));
      if (memory.data() == nullptr)
        return absl::ResourceExhaustedError("no memory left for packed constants");
      constants[b] = Owned(std::move(memory));
      pointers[b] = const_cast<uint8_t*>(constants[b].bytes);
    }
  }
  if (kernel != nullptr) {
    KernelRunner runner(*kernel, team);
    if (!runner.ok()) return absl::ResourceExhaustedError("no memory left to pack constants");
    runner.Bind(std::move(pointers));
    runner.Run(HONE_PHASE_PREPARE);
  }
  const std::set<const loop::BufferNode*> read = loop::ReadIn(nest, loop::Phase::kRun);
  for (size_t b = 0; b < nest.buffers.size(); ++b) {
    if (!read.contains(nest.buffers[b].get())) constants[b] = {};
  }
  return constants;
}

}  // namespace

loop::Nest OnlyPhase(const loop::Nest& nest, loop::Phase phase) {
  loop::Nest part{.name = nest.name, .buffers = nest.buffers, .launches = {}};
  for (const loop::Launch& launch : nest.launches) {
    if (launch.phase == phase) part.launches.push_back(launch);
  }
  return part;
}

absl::StatusOr<std::vector<std::vector<CallConstants>>> PrepareConstants(
    const KernelGraph& graph, const std::vector<loop::Nest>& nests) {
  HONE_ASSIGN_OR_RETURN(const HostModule host, BuildForHost(graph, nests));
  ThreadTeam team(1);
  std::map<std::pair<int, std::vector<const uint8_t*>>, CallConstants> known;
  std::vector<std::vector<CallConstants>> constants;
  for (const Specialisation& specialisation : graph.specialisations) {
    std::vector<CallConstants>& of_calls = constants.emplace_back();
    for (const KernelCall& call : specialisation.calls) {
      const auto key = std::make_pair(call.kernel, ConstantsRead(specialisation, call));
      auto found = known.find(key);
      if (found == known.end()) {
        HONE_ASSIGN_OR_RETURN(
            CallConstants prepared,
            PrepareCall(specialisation, call, nests[call.kernel], host.kernels[call.kernel], team));
        found = known.emplace(key, std::move(prepared)).first;
      }
      of_calls.push_back(found->second);
    }
  }
  return constants;
}

}  // namespace hone::driver
