#include "tuner/cost_model/cost_model.h"

#include <cmath>

#include "gtest/gtest.h"
#include "support/random.h"

namespace hone::tuner {
namespace {

// Throughput falls with the distance of feature 0 from 3 and feature 1 from 5; feature 2 is noise.
// The analytic estimate knows of feature 0 only, and is off by a constant of the task.
TrainingSet MakeData(int count, uint64_t seed, int64_t group, float offset) {
  Random random(seed);
  TrainingSet data;
  for (int i = 0; i < count; ++i) {
    const float a = static_cast<float>(random.Below(8)), b = static_cast<float>(random.Below(8));
    data.rows.push_back({a, b, static_cast<float>(random.Uniform())});
    data.margins.push_back(-std::abs(a - 3) + offset);
    data.targets.push_back(-std::abs(a - 3) - std::abs(b - 5));
    data.groups.push_back(group);
  }
  return data;
}

double PairAccuracy(const CostModel& model, const TrainingSet& data) {
  const auto predicted = model.Predict(data.rows, data.margins);
  EXPECT_TRUE(predicted.ok()) << predicted.status();
  int right = 0, pairs = 0;
  for (size_t i = 0; i < data.rows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (data.targets[i] == data.targets[j]) continue;
      ++pairs;
      right += (data.targets[i] < data.targets[j]) == ((*predicted)[i] < (*predicted)[j]);
    }
  }
  return static_cast<double>(right) / pairs;
}

TEST(CostModel, LearnsWhatTheEstimateLeavesOver) {
  const auto model = CostModel::Train(MakeData(200, 1, 0, 20), {});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_GT(PairAccuracy(*model, MakeData(100, 2, 0, 20)), 0.95);
}

TEST(CostModel, OffsetsOfTasksDoNotMatter) {
  TrainingSet both = MakeData(100, 1, 0, 20);
  const TrainingSet other = MakeData(100, 3, 1, -50);
  both.rows.insert(both.rows.end(), other.rows.begin(), other.rows.end());
  both.margins.insert(both.margins.end(), other.margins.begin(), other.margins.end());
  both.targets.insert(both.targets.end(), other.targets.begin(), other.targets.end());
  both.groups.insert(both.groups.end(), other.groups.begin(), other.groups.end());
  const auto model = CostModel::Train(both, {});
  ASSERT_TRUE(model.ok());
  EXPECT_GT(PairAccuracy(*model, MakeData(100, 4, 2, 7)), 0.95);
}

TEST(CostModel, IsTheSameEveryTime) {
  const TrainingSet data = MakeData(100, 1, 0, 0);
  const auto model = CostModel::Train(data, {});
  const auto again = CostModel::Train(data, {});
  ASSERT_TRUE(model.ok() && again.ok());
  EXPECT_EQ(*model->Predict(data.rows, data.margins), *again->Predict(data.rows, data.margins));
}

TEST(CostModel, RefusesDataThatDoesNotFit) {
  EXPECT_EQ(CostModel::Train({}, {}).status().code(), absl::StatusCode::kInvalidArgument);
  TrainingSet ragged = MakeData(3, 1, 0, 0);
  ragged.rows[1].pop_back();
  EXPECT_EQ(CostModel::Train(ragged, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::tuner
