// Templates: each knows which kernels its family of strategies can schedule; one file each.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATE_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "compiler/ir/target.h"
#include "compiler/ir/workload.h"
#include "compiler/machine/machine.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/micro_kernels.h"
#include "compiler/schedule/plan.h"

namespace hone::schedule {

// What is to be scheduled. `def` outlives the task.
struct Task {
  const ops::KernelDefinition* def = nullptr;
  ir::LayoutSignature signature;
  Target target;  // what code is valid for; models ask the machine
  // What was measured of the target, for defaults; nullptr: nothing. Spaces and schedules do not
  // depend on it.
  std::shared_ptr<const MicroKernelTimes> micro_kernels = nullptr;
  machine::Machine machine = {};  // the target's; OpenTask fills it in
};

// Stateless; thread-safe.
class Template {
 public:
  virtual ~Template() = default;
  virtual std::string_view name() const = 0;
  virtual bool Matches(const ops::KernelDefinition& def) const = 0;
  // The layout signatures this template can compile, the preferred one first; row-major is always
  // one of them.
  virtual std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                                      const machine::Machine& machine) const = 0;
  // The plan of a task whose kernel Matches and whose signature fits the kernel; never nullptr.
  virtual std::unique_ptr<const Plan> Open(const Task& task) const = 0;
};

// The first template for the machine that matches; there is one for every kernel.
const Template& TemplateFor(const ops::KernelDefinition& def, const machine::Machine& machine);
// The same for CPUs.
const Template& TemplateFor(const ops::KernelDefinition& def);

// SHA-256 of the nest's text with names made canonical: nests with equal digests compile to equal
// code.
std::string NestDigest(const loop::Nest& nest);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATE_H_
