#include "tuner/model_final/kept_configs.h"

#include <gtest/gtest.h>

#include "tuner/model_final/model_final_message.h"

namespace hone::tuner {
namespace {

constexpr char kWinner[] = R"({"tile":8})";
constexpr char kDefault[] = R"({"tile":1})";

tuning_db::ModelFinal FinalThatKeeps(const std::string& kept) {
  tuning_db::ModelFinal final;
  final.skeleton = "skeleton";
  final.target = "llvm";
  final.model = "a model";
  final.signatures = {"NC->NC"};
  final.compared = "what was compared";
  final.rounds = 15;
  final.default_ns = 3;
  final.tuned_ns = 2;
  final.ratio = {1.5, 1.4, 1.6};
  final.kernels = {{.name = "dense",
                    .workload_digest = "w",
                    .signature = "NC->NC",
                    .calls = 2,
                    .winner = kWinner,
                    .kept = kept,
                    .kept_nest_digest = "nest of " + kept,
                    .default_ns = 1,
                    .winner_ns = 2,
                    .ratio = {0.5, 0.4, 0.6}}};
  return final;
}

tuning_db::Best BestOf(const std::string& config) {
  tuning_db::Best best;
  best.tier = tuning_db::Tier::kTuned;
  best.config = config;
  best.nest_digest = "nest of " + config;
  return best;
}

TEST(KeptConfigs, ADefaultThatWasFasterTakesTheWinnersPlace) {
  KeptConfigs kept;
  kept.Add(FinalThatKeeps(kDefault));
  tuning_db::Best best = BestOf(kWinner);
  kept.Apply("w", "NC->NC", best);
  EXPECT_EQ(best.config, kDefault);
  EXPECT_EQ(best.nest_digest, BestOf(kDefault).nest_digest);
}

TEST(KeptConfigs, AVerdictSaysNothingOfAnotherWinnerOrKernel) {
  KeptConfigs kept;
  kept.Add(FinalThatKeeps(kDefault));
  tuning_db::Best newer = BestOf(R"({"tile":16})");
  kept.Apply("w", "NC->NC", newer);
  EXPECT_EQ(newer.config, R"({"tile":16})");
  tuning_db::Best elsewhere = BestOf(kWinner);
  kept.Apply("w", "NC16c->NC16c", elsewhere);
  kept.Apply("another", "NC->NC", elsewhere);
  EXPECT_EQ(elsewhere.config, kWinner);
}

// A tune that its time limit ended before the kernel had a trial: the module that was timed had the
// config that was kept.
TEST(KeptConfigs, AKernelWithoutRecordsTakesWhatWasKept) {
  KeptConfigs kept;
  kept.Add(FinalThatKeeps(kDefault));
  tuning_db::Best nothing;
  kept.Apply("w", "NC->NC", nothing);
  EXPECT_EQ(nothing.config, kDefault);
  EXPECT_EQ(nothing.tier, tuning_db::Tier::kNone);
}

TEST(KeptConfigs, TheFirstSpecialisationDecides) {
  KeptConfigs kept;
  kept.Add(FinalThatKeeps(kWinner));
  kept.Add(FinalThatKeeps(kDefault));
  tuning_db::Best best = BestOf(kWinner);
  kept.Apply("w", "NC->NC", best);
  EXPECT_EQ(best.config, kWinner);
}

TEST(ModelFinalMessage, CarriesEveryField) {
  const tuning_db::ModelFinal final = FinalThatKeeps(kDefault);
  const tuning_db::ModelFinal read = FromProto(ToProto(final));
  EXPECT_EQ(ToProto(read).SerializeAsString(), ToProto(final).SerializeAsString());
  EXPECT_EQ(read.skeleton, "skeleton");
  EXPECT_EQ(read.compared, "what was compared");
  EXPECT_EQ(read.ratio.high, 1.6);
  EXPECT_EQ(read.kernels.at(0).kept, kDefault);
  EXPECT_EQ(read.kernels.at(0).ratio.low, 0.4);
}

TEST(ModelFinalMessage, ConfigsBecomeCanonical) {
  tuning_db::ModelFinal final = FinalThatKeeps(R"({"b":1,"a":2})");
  EXPECT_EQ(FromProto(ToProto(final)).kernels.at(0).kept, R"({"a":2,"b":1})");
}

}  // namespace
}  // namespace hone::tuner
