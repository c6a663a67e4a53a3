// How many candidates a worker's devices load while one is measured.
#include "measure_server/load_ahead.h"

#include <gtest/gtest.h>

namespace hone::measure {
namespace {

constexpr uint32_t kManyCores = 64;

hone::v1::Device OfKind(hone::v1::DeviceKind kind) {
  hone::v1::Device device;
  device.set_kind(kind);
  return device;
}

// The number for a worker that has this device alone.
uint32_t AheadAlone(hone::v1::DeviceKind kind, uint32_t spare_cores, std::optional<uint32_t> most) {
  const hone::v1::Device device = OfKind(kind);
  return CandidatesAheadOf(device, {device}, spare_cores, most);
}

TEST(LoadAheadTest, GpusOfCudaLoadFourUnlessTold) {
  EXPECT_EQ(AheadAlone(hone::v1::DEVICE_KIND_CUDA, kManyCores, std::nullopt), 4u);
}

TEST(LoadAheadTest, OtherDevicesLoadNoneEvenIfTold) {
  for (const hone::v1::DeviceKind kind :
       {hone::v1::DEVICE_KIND_CPU, hone::v1::DEVICE_KIND_OPENCL}) {
    EXPECT_EQ(AheadAlone(kind, kManyCores, std::nullopt), 0u) << kind;
    EXPECT_EQ(AheadAlone(kind, kManyCores, 12), 0u) << kind;
  }
}

TEST(LoadAheadTest, AUsersNumberReplacesTheDefault) {
  for (const uint32_t most : {0u, 1u, 12u}) {
    EXPECT_EQ(AheadAlone(hone::v1::DEVICE_KIND_CUDA, kManyCores, most), most);
  }
}

TEST(LoadAheadTest, NoMoreAreLoadedThanThereAreSpareCores) {
  EXPECT_EQ(AheadAlone(hone::v1::DEVICE_KIND_CUDA, 0, std::nullopt), 0u);
  EXPECT_EQ(AheadAlone(hone::v1::DEVICE_KIND_CUDA, 3, std::nullopt), 3u);
  EXPECT_EQ(AheadAlone(hone::v1::DEVICE_KIND_CUDA, 3, 12), 3u);
  EXPECT_EQ(AheadAlone(hone::v1::DEVICE_KIND_CUDA, 3, 2), 2u);
}

TEST(LoadAheadTest, NoneAreLoadedBesideTheProcessor) {
  const hone::v1::Device cuda = OfKind(hone::v1::DEVICE_KIND_CUDA);
  const hone::v1::Device cpu = OfKind(hone::v1::DEVICE_KIND_CPU);
  const hone::v1::Device opencl = OfKind(hone::v1::DEVICE_KIND_OPENCL);
  EXPECT_EQ(CandidatesAheadOf(cuda, {cpu, cuda}, kManyCores, std::nullopt), 0u);
  EXPECT_EQ(CandidatesAheadOf(cuda, {cpu, cuda}, kManyCores, 12), 0u);
  EXPECT_EQ(CandidatesAheadOf(cuda, {cuda, opencl}, kManyCores, std::nullopt), 4u);
}

}  // namespace
}  // namespace hone::measure
