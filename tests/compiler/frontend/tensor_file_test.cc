#include "compiler/frontend/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/random.h"

namespace hone::frontend {
namespace {

using testing::HasSubstr;

constexpr DataType kAll[] = {DataType::kFloat32,  DataType::kFloat64, DataType::kFloat16,
                             DataType::kBFloat16, DataType::kInt8,    DataType::kInt16,
                             DataType::kInt32,    DataType::kInt64,   DataType::kUInt8,
                             DataType::kUInt16,   DataType::kUInt32,  DataType::kUInt64,
                             DataType::kBool};

TensorData Sample(DataType dtype, std::vector<int64_t> shape) {
  TensorData tensor = {dtype, shape, {}};
  int64_t count = SizeBytes(dtype);
  for (const int64_t extent : shape) count *= extent;
  for (int64_t i = 0; i < count; ++i) tensor.bytes += static_cast<char>(i % 2);
  return tensor;
}

std::string MessageOf(const absl::StatusOr<TensorData>& tensor) {
  return std::string(tensor.status().message());
}

TEST(TensorFileTest, WhatIsWrittenIsReadBack) {
  const std::string folder = testing::TempDir() + std::to_string(getpid()) + "_";
  for (const DataType dtype : kAll) {
    for (const auto& shape : {std::vector<int64_t>{}, {5}, {2, 0, 3}, {2, 3, 4}}) {
      const TensorData tensor = Sample(dtype, shape);
      for (const char* const name : {"t.pb", "t.npy"}) {
        ASSERT_TRUE(WriteTensorFile(folder + name, tensor, "x").ok());
        const auto read = ReadTensorFile(folder + name);
        ASSERT_TRUE(read.ok()) << read.status();
        EXPECT_EQ(*read, tensor) << name << " of " << Name(dtype);
      }
    }
  }
}

TEST(TensorFileTest, AnNpyHasNumpysHeader) {
  const std::string bytes = SerializeNpy(Sample(DataType::kFloat32, {3}));
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"));
  EXPECT_EQ((bytes.size() - 12) % 64, 0u);
}

TEST(TensorFileTest, MissingFilesAndForeignEndingsAreNamed) {
  EXPECT_EQ(ReadTensorFile("/nowhere/x.pb").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(MessageOf(ReadTensorFile("/nowhere/x.pb")),
              HasSubstr("/nowhere/x.pb does not exist"));
  EXPECT_THAT(MessageOf(ReadTensorFile("x.txt")),
              HasSubstr("ends in .pb (ONNX TensorProto) or .npy"));
  EXPECT_FALSE(WriteTensorFile("/nowhere/x.npy", Sample(DataType::kInt8, {1})).ok());
}

TEST(TensorFileTest, FortranOrderIsRefusedWithTheRemedy) {
  std::string bytes = SerializeNpy(Sample(DataType::kFloat32, {2, 3}));
  bytes.replace(bytes.find("False,"), 6, "True, ");
  EXPECT_THAT(MessageOf(ParseNpy(bytes)), HasSubstr("ascontiguousarray"));
}

TEST(TensorFileTest, DamagedBytesAreErrorsNotCrashes) {
  const std::string npy = SerializeNpy(Sample(DataType::kFloat32, {2, 3}));
  const std::string pb = SerializeTensorProto(Sample(DataType::kFloat32, {2, 3}), "x");
  for (size_t i = 0; i < npy.size(); ++i) EXPECT_FALSE(ParseNpy(npy.substr(0, i)).ok());
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string broken = round % 2 == 0 ? npy : pb;
    broken[random.Below(broken.size())] = static_cast<char>(random.Next());
    (void)(round % 2 == 0 ? ParseNpy(broken) : ParseTensorProto(broken));
  }
}

}  // namespace
}  // namespace hone::frontend
