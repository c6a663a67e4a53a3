#include "cli/model_final_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/progress.h"
#include "fmt/format.h"

namespace hone::cli {
namespace {

using tuning_db::ModelFinal;
using tuning_db::ModelFinalKernel;

bool HasGain(const ModelFinal& final) { return final.ratio.median > 1; }

// Whether the kernel has a config that the untuned module has not.
bool KeepsWinner(const ModelFinalKernel& kernel) {
  return kernel.default_ns > 0 && kernel.kept == kernel.winner;
}

nlohmann::json KernelToJson(const ModelFinalKernel& kernel) {
  return {{"name", kernel.name},
          {"workload_digest", kernel.workload_digest},
          {"signature", kernel.signature},
          {"calls", kernel.calls},
          {"kept", KeepsWinner(kernel) ? "tuned" : "default"},
          {"default_us", kernel.default_ns * 1e-3},
          {"tuned_us", kernel.winner_ns * 1e-3},
          {"ratio", kernel.ratio.median},
          {"ratio_low", kernel.ratio.low},
          {"ratio_high", kernel.ratio.high}};
}

bool HasTimedKernels(const ModelFinal& final) {
  return std::ranges::any_of(final.kernels,
                             [](const ModelFinalKernel& kernel) { return kernel.default_ns > 0; });
}

std::string RatioText(const PairedRatio& ratio) {
  return fmt::format("{:.3f}x ({:.3f} to {:.3f})", ratio.median, ratio.low, ratio.high);
}

void PrintKernels(const ModelFinal& final) {
  fmt::print("\n{:<44} {:>5} {:>12} {:>12} {:>25}  {}\n", "kernel, where it stands", "calls",
             "default", "tuned", "gain", "kept");
  for (const ModelFinalKernel& kernel : final.kernels) {
    const bool is_timed = kernel.default_ns > 0;
    fmt::print(
        "{:<44} {:>5} {:>12} {:>12} {:>25}  {}\n", kernel.name, kernel.calls,
        is_timed ? FormatNs(kernel.default_ns) : "-", is_timed ? FormatNs(kernel.winner_ns) : "-",
        is_timed ? RatioText(kernel.ratio) : "no gain", KeepsWinner(kernel) ? "tuned" : "default");
  }
}

int64_t CountUntried(const ModelFinal& final, const TaskKeys& untried) {
  return std::ranges::count_if(final.kernels, [&](const ModelFinalKernel& kernel) {
    return untried.contains({kernel.workload_digest, kernel.signature});
  });
}

std::string WhyNoGain(const ModelFinal& final, int64_t untried) {
  if (HasTimedKernels(final)) {
    return "no winner of a kernel was faster than its default where it stands";
  }
  return untried == 0 ? "the default configs are the winners of every kernel"
                      : "the default configs are the winners of every kernel that was tried";
}

std::string Verdict(const ModelFinal& final, int64_t untried) {
  if (final.default_ns <= 0) {
    return fmt::format("{}: no gain: {}", final.model, WhyNoGain(final, untried));
  }
  if (!HasGain(final)) {
    return fmt::format(
        "{}: no gain: nothing was faster than the default configs as a whole ({}, {} rounds), "
        "which are kept",
        final.model, FormatNs(final.default_ns), final.rounds);
  }
  return fmt::format("{}: {} by default, {} tuned: {} as fast, the median of {} paired rounds",
                     final.model, FormatNs(final.default_ns), FormatNs(final.tuned_ns),
                     RatioText(final.ratio), final.rounds);
}

}  // namespace

nlohmann::json ModelFinalsToJson(const std::vector<ModelFinal>& finals) {
  nlohmann::json models = nlohmann::json::array();
  for (const ModelFinal& final : finals) {
    nlohmann::json kernels = nlohmann::json::array();
    for (const ModelFinalKernel& kernel : final.kernels) kernels.push_back(KernelToJson(kernel));
    models.push_back({{"name", final.model},
                      {"skeleton", final.skeleton},
                      {"default_us", final.default_ns * 1e-3},
                      {"tuned_us", final.tuned_ns * 1e-3},
                      {"ratio", final.ratio.median},
                      {"ratio_low", final.ratio.low},
                      {"ratio_high", final.ratio.high},
                      {"gain", HasGain(final)},
                      {"rounds", final.rounds},
                      {"kernels", kernels}});
  }
  return models;
}

std::string VerdictOf(const ModelFinal& final, const TaskKeys& untried) {
  const int64_t count = CountUntried(final, untried);
  if (count == 0) return Verdict(final, 0);
  if (count == std::ssize(final.kernels)) return final.model + ": no kernel was tried";
  return fmt::format("{}; {} of its {} kernels were not tried", Verdict(final, count), count,
                     final.kernels.size());
}

void PrintModelFinals(const std::vector<ModelFinal>& finals, const TaskKeys& untried) {
  for (const ModelFinal& final : finals) {
    if (HasTimedKernels(final)) PrintKernels(final);
    fmt::print("\n{}\n", VerdictOf(final, untried));
  }
}

}  // namespace hone::cli
