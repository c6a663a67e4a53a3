// A module for a device: no code of the host's, only tables.
#include <fmt/format.h>

#include <memory>
#include <mutex>

#include "compiler/codegen/device_code.h"
#include "compiler/codegen/link.h"
#include "compiler/codegen/llvm/llvm_module.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/tables.h"
#include "runtime/host.h"
#include "support/clock.h"
#include "support/status.h"
#include "support/version.h"

namespace hone::codegen {

absl::StatusOr<std::string> BuildDeviceModule(const LoweredModule& module,
                                              const DeviceModule& device,
                                              const std::string& toolchain, BuildTimes* times) {
  const int64_t start = Clock::Real().NowNs();
  HONE_ASSIGN_OR_RETURN(const CpuTarget host, CpuTarget::Parse(HostTargetText(1)));
  const std::lock_guard lock(LlvmMutex());
  HONE_ASSIGN_OR_RETURN(CodeGenerator* const generator, CodeGenerator::For(host));
  std::vector<std::vector<LaunchEntry>> entries;
  for (const std::vector<lower::LoweredLaunch>& launches : module.launches) {
    entries.emplace_back();
    for (const lower::LoweredLaunch& launch : launches) entries.back().push_back({&launch, "", 0});
  }
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> tables = NewModule(context, generator->machine());
  tables->setPICLevel(llvm::PICLevel::BigPIC);
  EmitTables(*tables, *module.spec, entries, fmt::format("hone {} {}", Version(), toolchain),
             &device);
  HONE_RETURN_IF_ERROR(Verify(*tables));
  const int64_t middle = Clock::Real().NowNs();
  HONE_ASSIGN_OR_RETURN(const std::string object,
                        generator->EmitMachineCode(*tables, Output::kObject));
  HONE_ASSIGN_OR_RETURN(std::string shared_object, LinkSharedObject({object}));
  if (times != nullptr)
    *times = {.emit_ns = middle - start, .link_ns = Clock::Real().NowNs() - middle};
  return shared_object;
}

}  // namespace hone::codegen
