#include "measure_server/constant_rotation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace hone::measure {
namespace {

constexpr uint64_t kFillBytes = 10'000;

// An input, a constant that is packed, the packed one, a bias, an output.
class ConstantRotationTest : public testing::Test {
 protected:
  ConstantRotationTest() {
    kernel_.buffers = buffers_;
    kernel_.buffer_count = 5;
    for (uint32_t b = 0; b < 5; ++b) {
      memory_[b].assign(buffers_[b].size_bytes, static_cast<char>('a' + b));
      pointers_.push_back(memory_[b].data());
    }
  }

  static hone_buffer Buffer(hone_role role, uint64_t size_bytes, uint32_t flags) {
    hone_buffer buffer{};
    buffer.role = role;
    buffer.size_bytes = size_bytes;
    buffer.flags = flags;
    return buffer;
  }

  hone_buffer buffers_[5] = {
      Buffer(HONE_ROLE_INPUT, 4096, 0),
      Buffer(HONE_ROLE_CONSTANT, 100'000, HONE_BUFFER_NOT_READ_BY_RUN),
      Buffer(HONE_ROLE_PREPARED, 1000, 0),
      Buffer(HONE_ROLE_CONSTANT, 20, 0),
      Buffer(HONE_ROLE_OUTPUT, 4096, HONE_BUFFER_NOT_READ_BY_RUN),
  };
  hone_kernel kernel_{};
  std::string memory_[5];
  std::vector<void*> pointers_;
  ConstantRotation rotation_;
};

TEST_F(ConstantRotationTest, CopiesOfWhatRunsReadFillTwiceTheCache) {
  ASSERT_TRUE(rotation_.SetUp(kernel_, pointers_, kFillBytes, 0));
  EXPECT_GT(rotation_.count() * (1024 + 64), kFillBytes);
  EXPECT_LE((rotation_.count() - 1) * (1024 + 64), kFillBytes);
  std::set<void*> packed;
  std::vector<void*> binding = pointers_;
  for (uint64_t run = 0; run < 2 * rotation_.count(); ++run) {
    rotation_.Rotate(binding.data());
    packed.insert(binding[2]);
    EXPECT_EQ(std::memcmp(binding[2], pointers_[2], 1000), 0);
    EXPECT_EQ(std::memcmp(binding[3], pointers_[3], 20), 0);
    for (const uint32_t b : {0u, 1u, 4u}) EXPECT_EQ(binding[b], pointers_[b]);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(binding[3]) % HONE_BUFFER_ALIGNMENT, 0u);
  }
  EXPECT_EQ(packed.size(), rotation_.count());
}

TEST_F(ConstantRotationTest, SmallConstantsHaveAsManyCopiesAsItTakes) {
  buffers_[2].flags = HONE_BUFFER_NOT_READ_BY_RUN;
  ASSERT_TRUE(rotation_.SetUp(kernel_, pointers_, kFillBytes, 0));
  EXPECT_EQ(rotation_.count(), kFillBytes / 64 + 1);
}

TEST_F(ConstantRotationTest, LargeConstantsAlternate) {
  buffers_[1].flags = 0;
  ASSERT_TRUE(rotation_.SetUp(kernel_, pointers_, kFillBytes, 0));
  EXPECT_EQ(rotation_.count(), 2u);
}

TEST_F(ConstantRotationTest, WithoutConstantsOrWithoutRoomNothingRotates) {
  EXPECT_FALSE(rotation_.SetUp(kernel_, pointers_, kFillBytes, kFillBytes));
  buffers_[2].flags = buffers_[3].flags = HONE_BUFFER_NOT_READ_BY_RUN;
  EXPECT_FALSE(rotation_.SetUp(kernel_, pointers_, kFillBytes, 0));
  std::vector<void*> binding = pointers_;
  rotation_.Rotate(binding.data());
  EXPECT_EQ(binding, pointers_);
}

}  // namespace
}  // namespace hone::measure
