// What every store does. A store joins with one line:
//   INSTANTIATE_TEST_SUITE_P(Memory, Conformance, testing::Values(StoreKind{...}));
#ifndef HONE_TESTS_TUNING_DB_CONFORMANCE_H_
#define HONE_TESTS_TUNING_DB_CONFORMANCE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "tuning_db/store.h"

namespace hone::tuning_db {

// One place that holds a store. Destroyed with all it holds.
class StoreFixture {
 public:
  virtual ~StoreFixture() = default;
  virtual std::unique_ptr<Store> Open() = 0;
  // Whether a store opened again holds what was there.
  virtual bool IsDurable() const = 0;
};

struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<StoreFixture>()> make;
};

class Conformance : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    fixture_ = GetParam().make();
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

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_CONFORMANCE_H_
