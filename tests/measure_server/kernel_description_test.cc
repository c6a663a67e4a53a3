// A buffer table, from one process to another.
#include "measure_server/kernel_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure_server/candidate_check.h"

namespace hone::measure {
namespace {

constexpr int64_t kMatrixShape[2] = {5, 16};
constexpr hone_buffer kBuffers[3] = {
    {"x", HONE_ROLE_INPUT, 1, 2, 0, kMatrixShape, "NC", 320, 0, 0},
    {"t", HONE_ROLE_WORKSPACE, 1, 2, 0, kMatrixShape, "NC", 320, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 2, HONE_BUFFER_TRANSFORMED, kMatrixShape, "NC4c", 320, 0, 0}};

std::string Encoded() {
  hone_kernel kernel{};
  kernel.error_bound = 4;
  kernel.buffer_count = 3;
  kernel.buffers = kBuffers;
  return KernelDescription::Encode(kernel);
}

TEST(KernelDescriptionTest, ArrivesAsItWas) {
  const auto description = KernelDescription::Decode(Encoded());
  ASSERT_TRUE(description);
  EXPECT_EQ(description->error_bound(), 4);
  ASSERT_EQ(description->buffers().size(), 3u);
  const hone_buffer& y = description->buffers()[2];
  EXPECT_STREQ(y.name, "y");
  EXPECT_STREQ(y.layout, "NC4c");
  EXPECT_EQ(y.role, HONE_ROLE_OUTPUT);
  EXPECT_EQ(y.flags, HONE_BUFFER_TRANSFORMED);
  EXPECT_EQ(y.size_bytes, 320u);
  EXPECT_EQ(y.shape[1], 16);
}

TEST(KernelDescriptionTest, ACutOneIsNone) {
  const std::string whole = Encoded();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(KernelDescription::Decode(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(KernelDescription::Decode(whole + "x"));
}

TEST(KernelDescriptionTest, ADamagedOneIsNoneOrSound) {
  const std::string whole = Encoded();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x10, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto description = KernelDescription::Decode(damaged);
      if (!description) continue;
      const SharedPlaces places(description->buffers().data(),
                                static_cast<uint32_t>(description->buffers().size()));
      EXPECT_TRUE(!places.ok() || places.total_bytes() <= uint64_t{1} << 40);
    }
  }
}

TEST(SharedPlacesTest, OutputsAreSharedWholeAndEdgesOfWhatElseIsWritten) {
  const int64_t shape[1] = {1 << 20};
  const hone_buffer buffers[4] = {{"x", HONE_ROLE_INPUT, 1, 1, 0, shape, "C", 4 << 20, 0, 0},
                                  {"w", HONE_ROLE_CONSTANT, 1, 1, 0, shape, "C", 4 << 20, 0, 0},
                                  {"p", HONE_ROLE_PREPARED, 1, 1, 0, shape, "C", 4 << 20, 0, 0},
                                  {"y", HONE_ROLE_OUTPUT, 1, 1, 0, shape, "C", 4 << 20, 0, 0}};
  const SharedPlaces places(buffers, 4);
  ASSERT_TRUE(places.ok());
  EXPECT_EQ(places[0].bytes, 0u);
  EXPECT_EQ(places[1].bytes, 0u);
  EXPECT_EQ(places[2].bytes, 2 * 4096u);
  EXPECT_EQ(places[2].head_bytes, 4096u);
  EXPECT_EQ(places[3].bytes, 4u << 20);
  EXPECT_EQ(places.total_bytes(), 3 * 4096u + (4u << 20));
}

TEST(SharedPlacesTest, BuffersLargerThanAnyMemoryHaveNone) {
  const int64_t shape[1] = {int64_t{1} << 60};
  const hone_buffer huge = {"y", HONE_ROLE_OUTPUT, 9, 1, 0, shape, "C", uint64_t{1} << 60, 0, 0};
  EXPECT_FALSE(SharedPlaces(&huge, 1).ok());
  const hone_buffer huger = {"y", HONE_ROLE_OUTPUT, 9, 1, 0, shape, "C", UINT64_MAX, 0, 0};
  EXPECT_FALSE(SharedPlaces(&huger, 1).ok());
}

}  // namespace
}  // namespace hone::measure
