#include "tuner/model_final/model_final_message.h"

#include "tuning_db/canonical_config.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

void Write(const PairedRatio& ratio, v1::PairedRatio& message) {
  message.set_median(ratio.median);
  message.set_low(ratio.low);
  message.set_high(ratio.high);
}

PairedRatio Read(const v1::PairedRatio& message) {
  return {message.median(), message.low(), message.high()};
}

void Write(const tuning_db::ModelFinalKernel& kernel, v1::ModelFinalKernel& message) {
  message.set_name(kernel.name);
  message.set_workload_digest(kernel.workload_digest);
  message.set_signature(kernel.signature);
  message.set_calls(kernel.calls);
  message.set_winner(kernel.winner);
  message.set_kept(kernel.kept);
  message.set_kept_nest_digest(kernel.kept_nest_digest);
  message.set_default_ns(kernel.default_ns);
  message.set_winner_ns(kernel.winner_ns);
  Write(kernel.ratio, *message.mutable_ratio());
}

tuning_db::ModelFinalKernel Read(const v1::ModelFinalKernel& message) {
  return {.name = message.name(),
          .workload_digest = message.workload_digest(),
          .signature = message.signature(),
          .calls = message.calls(),
          .winner = tuning_db::CanonicalConfig(message.winner()),
          .kept = tuning_db::CanonicalConfig(message.kept()),
          .kept_nest_digest = message.kept_nest_digest(),
          .default_ns = message.default_ns(),
          .winner_ns = message.winner_ns(),
          .ratio = Read(message.ratio())};
}

}  // namespace

v1::ModelFinal ToProto(const tuning_db::ModelFinal& final) {
  v1::ModelFinal message;
  message.set_skeleton(final.skeleton);
  message.set_target(final.target);
  message.set_model(final.model);
  for (const std::string& signature : final.signatures) message.add_signatures(signature);
  for (const tuning_db::ModelFinalKernel& kernel : final.kernels) {
    Write(kernel, *message.add_kernels());
  }
  message.set_compared(final.compared);
  message.set_rounds(final.rounds);
  message.set_default_ns(final.default_ns);
  message.set_tuned_ns(final.tuned_ns);
  Write(final.ratio, *message.mutable_ratio());
  return message;
}

tuning_db::ModelFinal FromProto(const v1::ModelFinal& message) {
  tuning_db::ModelFinal final;
  final.skeleton = message.skeleton();
  final.target = message.target();
  final.model = message.model();
  final.signatures = {message.signatures().begin(), message.signatures().end()};
  for (const v1::ModelFinalKernel& kernel : message.kernels()) {
    final.kernels.push_back(Read(kernel));
  }
  final.compared = message.compared();
  final.rounds = message.rounds();
  final.default_ns = message.default_ns();
  final.tuned_ns = message.tuned_ns();
  final.ratio = Read(message.ratio());
  return final;
}

}  // namespace hone::tuner
