#include "tuner/builder/build_request.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/kernel_spec.h"
#include "compiler/ir/target.h"
#include "compiler/loop/reference.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/error_bound.h"
#include "compiler/schedule/open_task.h"
#include "runtime/target_text.h"
#include "support/clock.h"
#include "support/digest.h"
#include "support/status.h"
#include "support/version.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;

// A failure with the outcome it means.
struct Failure {
  v1::BuildOutcome outcome = v1::BUILD_OUTCOME_BUILD_ERROR;
  absl::Status status;
};

absl::StatusOr<codegen::KernelSpec> LowerCandidate(const v1::BuildCandidate& candidate,
                                                   const Target& target,
                                                   v1::BuildOutcome& outcome) {
  HONE_ASSIGN_OR_RETURN(const ops::KernelDefinition def, ops::LowerWorkload(candidate.workload()));
  schedule::Task task;
  task.def = &def;
  task.target = target;
  HONE_ASSIGN_OR_RETURN(task.signature, ops::ParseSignature(def, candidate.signature()));
  outcome = v1::BUILD_OUTCOME_INVALID_CONFIG;
  HONE_ASSIGN_OR_RETURN(schedule::Config config, schedule::Config::Parse(candidate.config()));
  HONE_ASSIGN_OR_RETURN(const schedule::OpenTask open, schedule::OpenTask::Open(std::move(task)));
  // A trial may have been proposed by an older daemon, before a knob existed.
  config = open.space().Migrate(config).value_or(config);
  HONE_ASSIGN_OR_RETURN(schedule::LoweredConfig lowered, open.Lower(config));
  outcome = v1::BUILD_OUTCOME_BUILD_ERROR;
  const std::string digest = schedule::NestDigest(lowered.nest);
  if (digest != candidate.nest_digest()) {
    return absl::InternalError(fmt::format(
        "the config lowers to nest {} here, to {} in the daemon: builder and daemon are of "
        "different builds",
        digest, candidate.nest_digest()));
  }
  return codegen::KernelSpecOf(def, config, std::move(lowered));
}

absl::StatusOr<codegen::KernelSpec> LowerReference(const v1::BuildReference& reference) {
  HONE_ASSIGN_OR_RETURN(const ops::KernelDefinition def, ops::LowerWorkload(reference.workload()));
  codegen::KernelSpec spec;
  spec.workload = def.workload.text;
  spec.workload_digest = def.workload.digest;
  spec.flops = def.flops;
  spec.nest = loop::ReferenceNest(def.naive, schedule::ErrorBound(def));
  spec.name = spec.nest.name;
  return spec;
}

absl::Status Build(const v1::BuildRequest& request, codegen::LaunchCache& cache,
                   v1::BuildReply& reply, v1::BuildOutcome& outcome) {
  const int64_t start = Clock::Real().NowNs();
  codegen::ModuleSpec module;
  HONE_ASSIGN_OR_RETURN(module.target, Target::Parse(request.target()));
  absl::StatusOr<codegen::KernelSpec> spec =
      request.has_reference() ? LowerReference(request.reference())
                              : LowerCandidate(request.candidate(), module.target, outcome);
  HONE_RETURN_IF_ERROR(spec.status());
  module.kernels.push_back(*std::move(spec));
  reply.set_lower_ns(Clock::Real().NowNs() - start);
  codegen::BuildTimes times;
  HONE_ASSIGN_OR_RETURN(*reply.mutable_artifact(), codegen::BuildModule(module, &times, &cache));
  reply.set_kind(v1::ARTIFACT_KIND_ELF);
  reply.set_artifact_digest(Sha256Hex(reply.artifact()));
  reply.set_toolchain(codegen::ToolchainText(module.target));
  reply.set_emit_ns(times.emit_ns);
  reply.set_optimise_ns(times.optimise_ns);
  reply.set_machine_code_ns(times.machine_code_ns);
  reply.set_link_ns(times.link_ns);
  return absl::OkStatus();
}

}  // namespace

v1::BuilderHello HelloOfBuilder() {
  v1::BuilderHello hello;
  hello.set_build(std::string("hone ") + Version());
  for (const Target& target : {Target(CpuTarget()), Target(CudaTarget()), Target(OpenClTarget())}) {
    (*hello.mutable_toolchains())[std::string(KindOf(target.ToString()))] =
        codegen::ToolchainText(target);
  }
  hello.add_artifact_kinds(v1::ARTIFACT_KIND_ELF);
  return hello;
}

v1::BuildReply BuildOne(const v1::BuildRequest& request, codegen::LaunchCache& cache) {
  v1::BuildReply reply;
  v1::BuildOutcome outcome = v1::BUILD_OUTCOME_BUILD_ERROR;
  const absl::Status status = Build(request, cache, reply, outcome);
  reply.set_id(request.id());
  reply.set_outcome(status.ok() ? v1::BUILD_OUTCOME_OK : outcome);
  if (!status.ok()) reply.set_message(std::string(status.message()));
  return reply;
}

}  // namespace hone::tuner
