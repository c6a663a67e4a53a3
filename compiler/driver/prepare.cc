#include "compiler/driver/prepare.h"

#include <memory>
#include <string>
#include <utility>

#include "compiler/codegen/codegen.h"
#include "fmt/format.h"
#include "runtime/cpu_device.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/kernel_runner.h"
#include "runtime/module.h"
#include "runtime/thread_team.h"
#include "support/status.h"

namespace hone::driver {
namespace {

// Bytes that own themselves.
ir::ConstantData Owned(Memory memory) {
  auto owner = std::make_shared<Memory>(std::move(memory));
  return {owner, owner->data(), owner->size_bytes()};
}

// The prepare launches of the kernels that have some, built for this machine.
struct HostModule {
  std::unique_ptr<Module> module;           // null where no kernel has any
  std::unique_ptr<LoadedModule> loaded;     // likewise
  std::vector<const hone_kernel*> kernels;  // of the graph; null for those without
};

absl::StatusOr<HostModule> BuildForHost(const KernelGraph& graph,
                                        const std::vector<loop::Nest>& nests, Device& device) {
  codegen::ModuleSpec spec;
  HONE_ASSIGN_OR_RETURN(spec.target, CpuTarget::Parse(HostTargetText(1)));
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
                  .loaded = nullptr,
                  .kernels = std::vector<const hone_kernel*>(nests.size(), nullptr)};
  if (spec.kernels.empty()) return host;
  HONE_ASSIGN_OR_RETURN(const std::string elf, codegen::BuildModule(spec));
  std::string error;
  host.module = Module::OpenBytes(elf.data(), elf.size(), &error);
  if (host.module) host.loaded = device.Load(*host.module, &error);
  if (!host.loaded) return absl::InternalError(error);
  for (size_t k = 0; k < nests.size(); ++k) {
    if (index[k] >= 0) host.kernels[k] = &host.module->table().kernels[index[k]];
  }
  return host;
}

// The constants of one call as they are and prepared, in its kernel's buffers.
absl::StatusOr<std::vector<ir::ConstantData>> PrepareCall(const Specialisation& graph,
                                                          const KernelCall& call,
                                                          const loop::Nest& nest,
                                                          const hone_kernel* kernel,
                                                          const HostModule& host) {
  std::vector<ir::ConstantData> constants(nest.buffers.size());
  std::vector<void*> pointers(nest.buffers.size(), nullptr);
  size_t next_arg = 0;
  for (size_t b = 0; b < nest.buffers.size(); ++b) {
    const loop::BufferNode& buffer = *nest.buffers[b];
    const auto size_bytes = static_cast<uint64_t>(buffer.SizeBytes());
    if (buffer.role == loop::Role::kInput) ++next_arg;
    if (buffer.role == loop::Role::kConstant) {
      const Value& value = graph.values[call.args[next_arg++]];
      if (value.data.size_bytes() != size_bytes) {
        return absl::InternalError(fmt::format("constant {} of kernel {} has {} bytes, expected {}",
                                               buffer.name, nest.name, value.data.size_bytes(),
                                               size_bytes));
      }
      constants[b] = value.data;
    }
    if (buffer.role == loop::Role::kPrepared) {
      Memory memory(size_bytes);
      if (memory.data() == nullptr)
        return absl::ResourceExhaustedError("no memory left for packed constants");
      constants[b] = Owned(std::move(memory));
    }
    pointers[b] = const_cast<uint8_t*>(constants[b].bytes());
  }
  if (kernel == nullptr) return constants;
  KernelRunner runner(host.module->table(), *kernel, *host.loaded);
  if (!runner.ok()) return absl::ResourceExhaustedError("no memory left to pack constants");
  runner.Bind(std::move(pointers));
  runner.Run(HONE_PHASE_PREPARE);
  return constants;
}

// Lets go of constants once no entry is left that is made of them. Specialisations share bytes:
// they are gone when all have let go.
class LastReads {
 public:
  // Lets go at once of what no entry is made of.
  LastReads(const std::vector<ParameterPlan::Entry>& entries, KernelGraph& graph) : graph_(graph) {
    for (const Specialisation& specialisation : graph.specialisations) {
      last_.emplace_back(specialisation.values.size(), kNever);
    }
    for (const ParameterPlan::Entry& entry : entries) {
      const auto [s, c] = entry.call;
      for (int value : graph.specialisations[s].calls[c].args) last_[s][value] = c;
    }
    for (size_t s = 0; s < last_.size(); ++s) {
      for (size_t value = 0; value < last_[s].size(); ++value) {
        if (last_[s][value] == kNever) graph.specialisations[s].values[value].data = {};
      }
    }
  }
  // Behind the entries of `call`.
  void Release(CallPlace call) {
    Specialisation& specialisation = graph_.specialisations[call.specialisation];
    for (int value : specialisation.calls[call.call].args) {
      if (last_[call.specialisation][value] == call.call) specialisation.values[value].data = {};
    }
  }

 private:
  static constexpr int kNever = -1;
  KernelGraph& graph_;
  // The last call with entries that reads a value, by specialisation and value.
  std::vector<std::vector<int>> last_;
};

}  // namespace

loop::Nest OnlyPhase(const loop::Nest& nest, loop::Phase phase) {
  loop::Nest part{.name = nest.name, .buffers = nest.buffers, .launches = {}};
  for (const loop::Launch& launch : nest.launches) {
    if (launch.phase == phase) part.launches.push_back(launch);
  }
  return part;
}

absl::Status PrepareParameters(KernelGraph graph, const std::vector<loop::Nest>& nests,
                               const ParameterPlan& plan, const ParameterSink& sink) {
  CpuDevice device(std::make_shared<ThreadTeam>(1));
  HONE_ASSIGN_OR_RETURN(const HostModule host, BuildForHost(graph, nests, device));
  LastReads last_reads(plan.entries, graph);
  for (auto entry = plan.entries.begin(); entry != plan.entries.end();) {
    const CallPlace place = entry->call;
    const Specialisation& specialisation = graph.specialisations[place.specialisation];
    const KernelCall& call = specialisation.calls[place.call];
    HONE_ASSIGN_OR_RETURN(
        const std::vector<ir::ConstantData> constants,
        PrepareCall(specialisation, call, nests[call.kernel], host.kernels[call.kernel], host));
    for (; entry != plan.entries.end() && entry->call == place; ++entry) {
      const ir::ConstantData& made = constants[entry->buffer];
      HONE_RETURN_IF_ERROR(sink(entry->offset_bytes,
                                {reinterpret_cast<const char*>(made.bytes()), made.size_bytes()}));
    }
    last_reads.Release(place);
  }
  return absl::OkStatus();
}

}  // namespace hone::driver
