// What every store does. A store joins with one line:
//   INSTANTIATE_TEST_SUITE_P(Memory, Conformance, testing::Values(StoreKind{...}));
#ifndef HONE_TESTS_TUNING_DB_CONFORMANCE_H_
#define HONE_TESTS_TUNING_DB_CONFORMANCE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/tuning_db/examples.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

// Longer than any test runs.
inline constexpr int64_t kLeaseNs = 3600 * int64_t{1'000'000'000};

// One place that holds a store. Destroyed with all it holds.
class StoreFixture {
 public:
  virtual ~StoreFixture() = default;
  virtual std::unique_ptr<Store> Open() = 0;
  // Whether a store opened again holds what was there.
  virtual bool IsDurable() const = 0;
  // Why there is no such store on this machine; empty: there is.
  virtual std::string WhyNot() const { return ""; }
};

struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<StoreFixture>()> make;
};

class Conformance : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    fixture_ = GetParam().make();
    if (!fixture_->WhyNot().empty()) GTEST_SKIP() << fixture_->WhyNot();
    store_ = fixture_->Open();
    ASSERT_NE(store_, nullptr);
  }
  void TearDown() override {
    if (store_ == nullptr) return;
    const auto complaints = store_->Check();
    ASSERT_TRUE(complaints.ok()) << complaints.status();
    EXPECT_THAT(*complaints, testing::IsEmpty());
  }
  // Closes and opens a durable store, so that what follows is read from the disk.
  void Reopen() {
    if (!fixture_->IsDurable()) return;
    store_.reset();
    store_ = fixture_->Open();
    ASSERT_NE(store_, nullptr);
  }

  std::unique_ptr<StoreFixture> fixture_;
  std::unique_ptr<Store> store_;
};

inline std::vector<int64_t> Ids(const std::vector<Record>& records) {
  std::vector<int64_t> ids;
  for (const Record& record : records) ids.push_back(record.id);
  return ids;
}

inline std::vector<int64_t> Ids(const std::vector<Trial>& trials) {
  std::vector<int64_t> ids;
  for (const Trial& trial : trials) ids.push_back(trial.id);
  return ids;
}

// Proposes, leases and settles one trial.
inline Trial SettleOne(Store& store, const Trial& wanted, double median_ns = 1000) {
  const Trial trial = store.Propose({wanted}).value().at(0);
  const Trial leased = store.Lease(trial.id, "worker-1").value();
  EXPECT_EQ(store.Settle(leased.fence, ExampleRecord(trial.id, median_ns)).value(),
            SettleResult::kSettled);
  return leased;
}

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_CONFORMANCE_H_
