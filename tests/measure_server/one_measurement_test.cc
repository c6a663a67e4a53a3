#include "measure_server/one_measurement.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "support/digest.h"

namespace hone::measure {
namespace {

class OneMeasurementTest : public testing::Test {
 protected:
  ~OneMeasurementTest() override { std::filesystem::remove(path_); }
  absl::StatusOr<Job> ReadBack(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return ReadOneMeasurement(path_);
  }

  const std::string path_ =
      std::filesystem::temp_directory_path() / ("hone-one-measurement-" + std::to_string(getpid()));
};

TEST_F(OneMeasurementTest, ArtifactsAreFoundByTheirDigests) {
  hone::v1::OneMeasurement wanted;
  wanted.add_artifacts("the reference");
  wanted.add_artifacts("the candidate");
  wanted.mutable_assignment()->add_candidates()->set_artifact_digest(Sha256Hex("the candidate"));
  wanted.mutable_assignment()->mutable_reference()->set_artifact_digest(Sha256Hex("the reference"));
  const Job job = ReadBack(wanted.SerializeAsString()).value();
  ASSERT_EQ(job.candidates.size(), 1u);
  EXPECT_EQ(job.candidates[0]->digest(), Sha256Hex("the candidate"));
  EXPECT_EQ(job.reference->digest(), Sha256Hex("the reference"));
}

TEST_F(OneMeasurementTest, WhatIsMissingIsSaidInASentence) {
  EXPECT_TRUE(absl::IsNotFound(ReadOneMeasurement("/nowhere/measurement").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadBack("no message").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadBack("").status())) << "no candidate";
  hone::v1::OneMeasurement wanted;
  wanted.mutable_assignment()->add_candidates()->set_artifact_digest("another");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadBack(wanted.SerializeAsString()).status()));
}

}  // namespace
}  // namespace hone::measure
