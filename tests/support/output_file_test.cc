// What becomes of the places that a user names with -o. Only in folders of the test.
#include "support/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "support/file_system.h"

namespace hone {
namespace {

using testing::HasSubstr;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() { std::filesystem::create_directories(folder_); }
  ~OutputFileTest() override { std::filesystem::remove_all(folder_); }

  void ExpectRefused(const std::string& path, const std::string& words) {
    for (const absl::Status& status :
         {ResolveOutput(path).status(), WriteFileAtomically(path, "new")}) {
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(words));
    }
  }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  const std::string folder_ = testing::TempDir() + "/hone-output-" + std::to_string(getpid());
  const std::string path_ = folder_ + "/file";
};

TEST_F(OutputFileTest, RefusesWhatIsNoFileAndLeavesIt) {
  ExpectRefused("", "an empty one");
  ExpectRefused(folder_, "a folder");
  ExpectRefused(folder_ + "/none/", "name of a folder");
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ExpectRefused(path_, "a pipe");
  std::filesystem::create_symlink(path_, folder_ + "/link");
  ExpectRefused(folder_ + "/link", "a pipe");
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/link"));
  // Only asked, never written to: a mistake here would replace the device.
  EXPECT_THAT(std::string(ResolveOutput("/dev/null").status().message()), HasSubstr("a device"));
  EXPECT_TRUE(absl::IsNotFound(ResolveOutput(folder_ + "/no/file").status()));
  std::filesystem::create_symlink("round", folder_ + "/round");
  ExpectRefused(folder_ + "/round", "symbolic links");
}

TEST_F(OutputFileTest, WritesWhereASymlinkLeads) {
  std::filesystem::create_directories(folder_ + "/far");
  std::filesystem::create_symlink("far/second", folder_ + "/first");
  std::filesystem::create_symlink("file", folder_ + "/far/second");
  for (const std::string bytes : {"into nothing yet", "over a file"}) {
    ASSERT_TRUE(WriteFileAtomically(folder_ + "/first", bytes).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/first"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/far/second"));
    EXPECT_EQ(ReadFile(folder_ + "/far/file").value(), bytes);
  }
}

TEST_F(OutputFileTest, AbandonedLeavesNothing) {
  {
    auto file = OutputFile::Create(path_, 0666);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("half").ok());
    EXPECT_EQ(FileCount(), 1u);
  }
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(OutputFileTest, HasTheModeThatTheUmaskLeaves) {
  const mode_t before = umask(027);
  ASSERT_TRUE(WriteFileAtomically(path_, "x").ok());
  umask(before);
  struct stat info{};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(OutputFileTest, WhatAKilledWriterLeftIsRemovedByTheNext) {
  namespace fs = std::filesystem;
  const auto age = [](const std::string& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  const std::string left = folder_ + "/.hone-1-2.new";
  const std::string fresh = folder_ + "/.hone-1-3.new";
  const std::string other = folder_ + "/.hone-notes";
  for (const std::string& path : {left, fresh, other}) std::ofstream(path) << "half";
  age(left);
  age(other);
  auto slow = OutputFile::Create(folder_ + "/slow", 0644);  // at work for an hour
  ASSERT_TRUE(slow.ok() && slow->Write("slow").ok());
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    if (entry.path() != fresh) age(entry.path());
  }
  ASSERT_TRUE(WriteFileAtomically(path_, "new").ok());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh)) << "its writer may not have locked it yet";
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(slow->Commit().ok());
}

TEST_F(OutputFileTest, WritersOfOnePathDoNotMeet) {
  constexpr int kWriters = 6;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.push_back(fork());
    if (writers.back() != 0) continue;
    bool ok = true;
    const std::string bytes(200'000, static_cast<char>('a' + writer));
    for (int i = 0; i < 10; ++i) ok = ok && WriteFileAtomically(path_, bytes).ok();
    _exit(ok ? 0 : 1);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::string bytes = ReadFile(path_).value();
  EXPECT_EQ(bytes, std::string(200'000, bytes[0]));
  EXPECT_EQ(FileCount(), 1u);
}

}  // namespace
}  // namespace hone
