#include "cli/model_final.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cli/exit_code.h"
#include "cli/job_progress.h"
#include "cli/model_contender.h"
#include "cli/server_configs.h"
#include "fmt/format.h"
#include "support/digest.h"
#include "support/median.h"
#include "support/paired_ratio.h"
#include "support/status.h"

namespace hone::cli {
namespace {

using tuning_db::ModelFinal;
using tuning_db::ModelFinalKernel;

constexpr int kFinalRounds = 15;

// One choice of layouts: with the default of every kernel, and with every winner. The kernels are
// the same, in the same order.
struct Pair {
  ModelContender untuned;
  ModelContender tuned;
};

// What can be had of the model; the untuned module is the first pair's.
using Pairs = std::vector<Pair>;

std::string TextOf(const ModelContender& contender) {
  std::string text;
  for (const std::string& layout : contender.layouts) text += layout + "\n";
  for (const driver::KernelReport& kernel : contender.kernels) {
    text += fmt::format("{} {} {} {}\n", kernel.workload_digest, kernel.signature,
                        kernel.nest_digest, kernel.config);
  }
  return text;
}

std::string DigestOf(const Pairs& pairs) {
  std::string text;
  for (const Pair& pair : pairs) text += TextOf(pair.untuned) + TextOf(pair.tuned);
  return Sha256Hex(text);
}

absl::StatusOr<Pairs> FindPairs(const ir::Module& module, const Target& target,
                                const std::string& address) {
  const auto winners = [&] { return MakeServerConfigs(address, Verdicts::kOfKernels); };
  HONE_ASSIGN_OR_RETURN(ModelContender untuned, ChooseContender(module, target, nullptr));
  HONE_ASSIGN_OR_RETURN(ModelContender tuned, ChooseContender(module, target, winners()));
  if (tuned.layouts == untuned.layouts) {
    return Pairs{{std::move(untuned), std::move(tuned)}};
  }
  HONE_ASSIGN_OR_RETURN(ModelContender winners_in_place,
                        ChooseContender(module, target, winners(), untuned.layouts));
  HONE_ASSIGN_OR_RETURN(ModelContender defaults_elsewhere,
                        ChooseContender(module, target, nullptr, tuned.layouts));
  return Pairs{{std::move(untuned), std::move(winners_in_place)},
               {std::move(defaults_elsewhere), std::move(tuned)}};
}

// Contenders under the clock, each compiled once.
class Track {
 public:
  Track(const ir::Module& module, const Target& target) : module_(module), target_(target) {}

  absl::StatusOr<TimedModel*> Enter(const ModelContender& contender) {
    for (const auto& [known, timed] : entered_) {
      if (known == contender) return timed.get();
    }
    HONE_RETURN_IF_ERROR(CheckInterrupts());
    HONE_ASSIGN_OR_RETURN(TimedModel compiled, CompileContender(module_, target_, contender));
    HONE_RETURN_IF_ERROR(CheckInterrupts());
    auto timed = std::make_unique<TimedModel>(std::move(compiled));
    timed->WarmUp();
    entered_.emplace_back(contender, std::move(timed));
    return entered_.back().second.get();
  }

  // The others' memory is given back.
  void KeepOnly(const std::vector<const ModelContender*>& contenders) {
    std::erase_if(entered_, [&](const auto& entry) {
      return std::ranges::none_of(contenders,
                                  [&](const auto* kept) { return *kept == entry.first; });
    });
  }

  static absl::Status Run(const std::vector<TimedModel*>& models, void (TimedModel::*round)()) {
    RunInTurns(models, round, kFinalRounds, [] { return Interrupts() > 0; });
    return CheckInterrupts();
  }

 private:
  const ir::Module& module_;
  const Target& target_;
  std::vector<std::pair<ModelContender, std::unique_ptr<TimedModel>>> entered_;
};

// The time of all calls of each kernel in a run, one figure a round.
std::vector<std::vector<double>> KernelRounds(const TimedModel& timed, size_t kernels) {
  std::vector<std::vector<double>> rounds(kernels, std::vector<double>(kFinalRounds, 0));
  const hone_function& function = timed.function();
  for (uint32_t call = 0; call < function.call_count; ++call) {
    std::vector<double>& of_kernel = rounds[function.calls[call].kernel];
    for (size_t r = 0; r < kFinalRounds; ++r) of_kernel[r] += timed.call_ns()[call][r];
  }
  return rounds;
}

// What a choice of layouts keeps.
struct Judged {
  ModelContender kept;
  std::vector<ModelFinalKernel> kernels;
};

// The kernel's config, as its own final has it.
std::string WinnerOf(const driver::KernelReport& tuned) {
  return tuned.stored.empty() ? tuned.config : tuned.stored;
}

Judged WithoutTimes(const Pair& pair) {
  Judged judged{.kept = pair.untuned, .kernels = {}};
  for (size_t k = 0; k < pair.tuned.kernels.size(); ++k) {
    const driver::KernelReport& untuned = pair.untuned.kernels[k];
    judged.kernels.push_back({.name = untuned.name,
                              .workload_digest = untuned.workload_digest,
                              .signature = untuned.signature,
                              .calls = untuned.calls,
                              .winner = WinnerOf(pair.tuned.kernels[k]),
                              .kept = untuned.config,
                              .kept_nest_digest = untuned.nest_digest,
                              .ratio = {}});
  }
  return judged;
}

void Keep(const driver::KernelReport& kernel, size_t k, Judged& judged) {
  judged.kept.kernels[k] = kernel;
  judged.kernels[k].kept = WinnerOf(kernel);
  judged.kernels[k].kept_nest_digest = kernel.nest_digest;
}

// Kernel by kernel where each stands.
absl::StatusOr<Judged> Judge(const Pair& pair, Track& track) {
  Judged judged = WithoutTimes(pair);
  if (pair.untuned == pair.tuned) return judged;
  HONE_ASSIGN_OR_RETURN(TimedModel * untuned, track.Enter(pair.untuned));
  HONE_ASSIGN_OR_RETURN(TimedModel * tuned, track.Enter(pair.tuned));
  HONE_RETURN_IF_ERROR(Track::Run({untuned, tuned}, &TimedModel::Profile));
  const size_t kernels = judged.kernels.size();
  const auto untuned_ns = KernelRounds(*untuned, kernels);
  const auto tuned_ns = KernelRounds(*tuned, kernels);
  for (size_t k = 0; k < kernels; ++k) {
    if (pair.untuned.kernels[k].config == pair.tuned.kernels[k].config) continue;
    judged.kernels[k].default_ns = Median(untuned_ns[k]);
    judged.kernels[k].winner_ns = Median(tuned_ns[k]);
    judged.kernels[k].ratio = RatioOf(untuned_ns[k], tuned_ns[k]);
    if (IsClearlyFaster(untuned_ns[k], tuned_ns[k])) Keep(pair.tuned.kernels[k], k, judged);
  }
  return judged;
}

void Describe(const Judged& judged, ModelFinal& final) {
  final.signatures = judged.kept.layouts;
  final.kernels = judged.kernels;
}

// Each choice of layouts with what its kernels keep, as a whole beside the untuned module.
absl::Status JudgeWhole(const std::vector<Judged>& all, const Pairs& pairs, Track& track,
                        ModelFinal& final) {
  std::vector<const Judged*> others;
  for (const Judged& judged : all) {
    if (!(judged.kept == pairs[0].untuned)) others.push_back(&judged);
  }
  if (others.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(TimedModel * untuned, track.Enter(pairs[0].untuned));
  std::vector<TimedModel*> models = {untuned};
  for (const Judged* judged : others) {
    HONE_ASSIGN_OR_RETURN(TimedModel * timed, track.Enter(judged->kept));
    models.push_back(timed);
  }
  HONE_RETURN_IF_ERROR(Track::Run(models, &TimedModel::Round));
  final.rounds = kFinalRounds;
  final.default_ns = final.tuned_ns = Median(untuned->least_ns());
  for (size_t i = 0; i < others.size(); ++i) {
    const std::vector<double>& rounds = models[i + 1]->least_ns();
    const PairedRatio ratio = RatioOf(untuned->least_ns(), rounds);
    if (!IsClearlyFaster(untuned->least_ns(), rounds) || ratio.median <= final.ratio.median) {
      continue;
    }
    Describe(*others[i], final);
    final.tuned_ns = Median(rounds);
    final.ratio = ratio;
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelFinal> Time(const ir::Module& module, const Target& target,
                                const Pairs& pairs) {
  Track track(module, target);
  std::vector<Judged> all;
  for (const Pair& pair : pairs) {
    HONE_ASSIGN_OR_RETURN(all.emplace_back(), Judge(pair, track));
    std::vector<const ModelContender*> needed = {&pairs[0].untuned};
    for (const Judged& judged : all) needed.push_back(&judged.kept);
    track.KeepOnly(needed);
  }
  // Where nothing is faster, the untuned module it is.
  Judged untuned = all[0];
  for (size_t k = 0; k < untuned.kernels.size(); ++k) {
    Keep(pairs[0].untuned.kernels[k], k, untuned);
  }
  ModelFinal final;
  Describe(untuned, final);
  HONE_RETURN_IF_ERROR(JudgeWhole(all, pairs, track, final));
  return final;
}

absl::StatusOr<ModelFinal> RunOne(const std::string& name, const ir::Module& module,
                                  const Target& target, const std::string& address) {
  HONE_RETURN_IF_ERROR(CheckInterrupts());
  HONE_ASSIGN_OR_RETURN(const Pairs pairs, FindPairs(module, target, address));
  HONE_RETURN_IF_ERROR(CheckInterrupts());
  const std::string& skeleton = pairs[0].untuned.skeleton;
  const std::string compared = DigestOf(pairs);
  if (pairs[0].untuned.kernels.empty()) {  // nothing runs, and so nothing is to be kept
    ModelFinal nothing;
    nothing.model = name;
    return nothing;
  }
  TuningClient client(address);
  HONE_ASSIGN_OR_RETURN(const auto known, client.GetModelFinal(skeleton, target.ToString()));
  if (known && known->compared == compared) {
    ModelFinal as_it_was = *known;
    as_it_was.model = name;  // the file may have another name today
    return as_it_was;
  }
  if (std::ranges::any_of(pairs, [](const Pair& pair) { return !(pair.untuned == pair.tuned); })) {
    fmt::print(stderr, "timing {} as a whole, default against tuned\n", name);
  }
  HONE_ASSIGN_OR_RETURN(ModelFinal final, Time(module, target, pairs));
  final.skeleton = skeleton;
  final.target = target.ToString();
  final.model = name;
  final.compared = compared;
  HONE_RETURN_IF_ERROR(client.AddModelFinal(final));
  return final;
}

}  // namespace

absl::StatusOr<std::vector<ModelFinal>> RunModelFinals(const TuningRequest& request,
                                                       const TuningWork& work,
                                                       const std::string& address) {
  std::vector<ModelFinal> finals;
  for (size_t m = 0; m < work.models.size(); ++m) {
    const std::string& path = request.models[m];
    const std::string name = ModelName(path);
    for (const ir::Module& module : work.models[m]) {
      HONE_ASSIGN_OR_RETURN(finals.emplace_back(), RunOne(name, module, work.target, address));
    }
  }
  return finals;
}

}  // namespace hone::cli
