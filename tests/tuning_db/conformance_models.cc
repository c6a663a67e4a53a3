// Finals of models.
#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

void ExpectEqual(const PairedRatio& read, const PairedRatio& written) {
  EXPECT_EQ(read.median, written.median);
  EXPECT_EQ(read.low, written.low);
  EXPECT_EQ(read.high, written.high);
}

void ExpectEqual(const ModelFinalKernel& read, const ModelFinalKernel& written) {
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.workload_digest, written.workload_digest);
  EXPECT_EQ(read.signature, written.signature);
  EXPECT_EQ(read.calls, written.calls);
  EXPECT_EQ(read.winner, written.winner);
  EXPECT_EQ(read.kept, written.kept);
  EXPECT_EQ(read.kept_nest_digest, written.kept_nest_digest);
  EXPECT_EQ(read.default_ns, written.default_ns);
  EXPECT_EQ(read.winner_ns, written.winner_ns);
  ExpectEqual(read.ratio, written.ratio);
}

TEST_P(Conformance, FinalOfAModelIsReadAsItWasWritten) {
  const ModelFinal written = ExampleModelFinal("skeleton");
  EXPECT_EQ(store_->AddModelFinal(written).value(), 1);
  Reopen();
  const auto read = store_->NewestModelFinal("skeleton", "llvm").value();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->id, 1);
  EXPECT_EQ(read->skeleton, written.skeleton);
  EXPECT_EQ(read->target, written.target);
  EXPECT_EQ(read->model, written.model);
  EXPECT_EQ(read->signatures, written.signatures);
  EXPECT_EQ(read->compared, written.compared);
  EXPECT_EQ(read->rounds, written.rounds);
  EXPECT_EQ(read->default_ns, written.default_ns);
  EXPECT_EQ(read->tuned_ns, written.tuned_ns);
  ExpectEqual(read->ratio, written.ratio);
  EXPECT_EQ(read->wall_time_ns, written.wall_time_ns);
  ASSERT_EQ(read->kernels.size(), written.kernels.size());
  for (size_t k = 0; k < written.kernels.size(); ++k) {
    ExpectEqual(read->kernels[k], written.kernels[k]);
  }
}

TEST_P(Conformance, NewestFinalOfAModelIsOfItsSkeletonAndTarget) {
  EXPECT_FALSE(store_->NewestModelFinal("skeleton", "llvm").value().has_value());
  store_->AddModelFinal(ExampleModelFinal("skeleton", 900)).value();
  store_->AddModelFinal(ExampleModelFinal("skeleton", 700)).value();
  store_->AddModelFinal(ExampleModelFinal("other", 600)).value();
  ModelFinal elsewhere = ExampleModelFinal("skeleton", 500);
  elsewhere.target = "llvm -threads=2";
  store_->AddModelFinal(elsewhere).value();
  EXPECT_EQ(store_->NewestModelFinal("skeleton", "llvm").value()->tuned_ns, 700);
  EXPECT_EQ(store_->NewestModelFinal("skeleton", "llvm -threads=2").value()->tuned_ns, 500);
  EXPECT_FALSE(store_->NewestModelFinal("other", "llvm -threads=2").value().has_value());
}

TEST_P(Conformance, FinalOfAModelNeedsASkeletonATargetAndKernels) {
  ModelFinal without_skeleton = ExampleModelFinal("");
  ModelFinal without_target = ExampleModelFinal("skeleton");
  without_target.target.clear();
  ModelFinal without_kernels = ExampleModelFinal("skeleton");
  without_kernels.kernels.clear();
  for (const ModelFinal& final : {without_skeleton, without_target, without_kernels}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store_->AddModelFinal(final).status()));
  }
  EXPECT_FALSE(store_->NewestModelFinal("skeleton", "llvm").value().has_value());
}

}  // namespace
}  // namespace hone::tuning_db
