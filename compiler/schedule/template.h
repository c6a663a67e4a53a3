// Templates: the space and the schedules of one class of operators; one file each.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATE_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/cpu_target.h"
#include "compiler/ir/workload.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/micro_kernels.h"
#include "compiler/schedule/space.h"

namespace hone::schedule {

// What is to be scheduled. `def` outlives the task.
struct Task {
  const ops::KernelDefinition* def = nullptr;
  ir::LayoutSignature signature;
  CpuTarget target;
  // What was measured of the target, for defaults; nullptr: nothing. Spaces and schedules do not
  // depend on it.
  std::shared_ptr<const MicroKernelTimes> micro_kernels = nullptr;
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
                                                      const CpuTarget& target) const = 0;
  virtual Space MakeSpace(const Task& task) const = 0;
  // A config of the space from an analytic model of the target, with no measurement.
  virtual Config Default(const Task& task) const = 0;
  // What a guided search tries after the default: the best of other strategies by the analytic
  // model, which may rank them wrongly.
  virtual std::vector<Config> Alternatives(const Task& /*task*/) const { return {}; }
  // The scheduled nest: naive nest + primitives. The launches' outermost loops are parallel. A
  // config of the space always succeeds; another answers kInvalidArgument.
  virtual absl::StatusOr<loop::Nest> Schedule(const Task& task, const Config& config) const = 0;
};

// The first template that matches; the generic one matches every kernel.
const Template& TemplateFor(const ops::KernelDefinition& def);

// c in |err| <= c * 2^-24 * sum |a||b| for the config's strategy.
double ErrorBound(const Task& task, const Config& config);
// Whether the config's strategy transforms the data, so that rounding of one result's products also
// reaches results beside it.
bool SpreadsRounding(const Config& config);

// SHA-256 of the nest's text with names made canonical: equal digests compile to equal code.
std::string NestDigest(const loop::Nest& nest);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATE_H_
