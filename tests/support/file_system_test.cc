#include "support/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::KilledBySignal;

class FileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    // Not in the process that dies: its parent looks at what it left.
    if (getpid() == owner_) std::filesystem::remove_all(folder_);
  }
  const pid_t owner_ = getpid();
  const std::string folder_ = testing::TempDir() + "/hone-file-" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path_ = folder_ + "/file";
};

TEST_F(FileSystemTest, WritesAndReplacesWholeFiles) {
  const std::string bytes(300'000, '\0');
  ASSERT_TRUE(WriteFileAtomically(path_, "old").ok());
  EXPECT_EQ(ReadFile(path_).value(), "old");
  ASSERT_TRUE(WriteFileAtomically(path_, bytes).ok());
  EXPECT_EQ(ReadFile(path_).value(), bytes);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileSystemTest, ErrorsNameTheFile) {
  const std::string missing = folder_ + "/no/such";
  EXPECT_TRUE(absl::IsNotFound(ReadFile(missing).status()));
  EXPECT_THAT(std::string(ReadFile(missing).status().message()), HasSubstr(missing));
  EXPECT_TRUE(absl::IsNotFound(WriteFileAtomically(missing, "x")));
  EXPECT_TRUE(absl::IsInternal(ReadFile(folder_).status())) << "a folder has no bytes";
}

TEST_F(FileSystemTest, KilledAtAnyPointTheFileIsOldOrNew) {
  for (const char* point : {"file.write.before_sync", "file.write.after_sync", "file.rename.before",
                            "file.rename.after", "file.rename.durable"}) {
    SCOPED_TRACE(point);
    std::filesystem::create_directories(folder_);
    EXPECT_EXIT(
        {
          std::filesystem::remove(path_);
          FILE* const file = std::fopen(path_.c_str(), "w");
          std::fputs("old", file);
          std::fclose(file);
          setenv("HONE_CRASH_AT", point, 1);
          WriteFileAtomically(path_, "new").IgnoreError();
        },
        KilledBySignal(SIGKILL), "");
    const bool is_renamed =
        std::string(point) == "file.rename.after" || std::string(point) == "file.rename.durable";
    EXPECT_EQ(ReadFile(path_).value(), is_renamed ? "new" : "old");
  }
}

}  // namespace
}  // namespace hone
