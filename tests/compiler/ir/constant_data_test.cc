// Bytes of constants: shared, and computed no earlier than they are read.
#include "compiler/ir/constant_data.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace hone::ir {
namespace {

using Bytes = std::vector<uint8_t>;

ConstantData View(std::shared_ptr<const Bytes> bytes) {
  const uint8_t* first = bytes->data();
  const size_t size = bytes->size();
  return {std::move(bytes), first, size};
}

ConstantData Doubled(const ConstantData& base, int* calls = nullptr) {
  return ConstantData::Changed(base, [size = base.size_bytes(), calls](uint8_t* bytes) {
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(bytes[i] * 2);
    if (calls != nullptr) ++*calls;
  });
}

Bytes Read(const ConstantData& data) { return {data.bytes(), data.bytes() + data.size_bytes()}; }

TEST(ConstantData, ChangedBytesAreComputedOnceForAllCopiesAndNotBeforeTheyAreRead) {
  const auto bytes = std::make_shared<const Bytes>(Bytes{1, 2, 3});
  int calls = 0;
  const ConstantData changed = Doubled(View(bytes), &calls);
  const ConstantData copy = changed;
  EXPECT_EQ(changed.size_bytes(), 3U);
  EXPECT_EQ(changed.identity(), copy.identity());
  EXPECT_TRUE(copy.IsPending());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(Read(copy), (Bytes{2, 4, 6}));
  EXPECT_EQ(Read(changed), (Bytes{2, 4, 6}));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(changed.IsPending());
  EXPECT_EQ(*bytes, (Bytes{1, 2, 3}));
}

TEST(ConstantData, TheBaseOfAChangeIsLetGoOfWhenItIsRead) {
  auto bytes = std::make_shared<const Bytes>(Bytes{1, 2, 3});
  const std::weak_ptr<const Bytes> base = bytes;
  const ConstantData changed = Doubled(View(std::move(bytes)));
  EXPECT_FALSE(base.expired());
  EXPECT_EQ(changed.bytes()[2], 6);
  EXPECT_TRUE(base.expired());
}

TEST(ConstantData, ACopyOfPendingBytesLeavesThemPending) {
  const ConstantData changed = Doubled(Doubled(View(std::make_shared<const Bytes>(Bytes{1, 2}))));
  Bytes to(2);
  changed.CopyTo(to.data());
  EXPECT_EQ(to, (Bytes{4, 8}));
  EXPECT_TRUE(changed.IsPending());
  EXPECT_EQ(Read(changed), to);
}

TEST(ConstantData, AnyNumberOfChangesInARowIsComputed) {
  ConstantData data = View(std::make_shared<const Bytes>(Bytes{1}));
  for (int i = 0; i < 200'000; ++i) {
    data = ConstantData::Changed(data, [](uint8_t* bytes) { ++bytes[0]; });
  }
  EXPECT_EQ(data.bytes()[0], static_cast<uint8_t>(200'001));
}

TEST(ConstantData, NoBytesAreFine) {
  const ConstantData none;
  none.CopyTo(nullptr);
  EXPECT_EQ(none.size_bytes(), 0U);
  EXPECT_EQ(Doubled(none).size_bytes(), 0U);
  EXPECT_NE(Doubled(none).bytes(), nullptr);
}

}  // namespace
}  // namespace hone::ir
