#include "support/scratch_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hone {
namespace {

namespace fs = std::filesystem;

// As if nobody had touched it for an hour.
void Age(const std::string& folder) {
  const timespec hour_ago{time(nullptr) - 3600, 0};
  const timespec times[2] = {hour_ago, hour_ago};
  ASSERT_EQ(utimensat(AT_FDCWD, folder.c_str(), times, 0), 0);
}

// A process that makes a folder with a file in it, says its path, and waits to be killed.
pid_t StartMaker(const std::string& parent, std::string* path) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const auto folder = ScratchFolder::Make(parent, "made-");
    std::ofstream(folder->path() + "/file") << "left";
    (void)!write(ends[1], folder->path().data(), folder->path().size());
    pause();
  }
  char buffer[4096];
  const ssize_t count = read(ends[0], buffer, sizeof(buffer));
  path->assign(buffer, static_cast<size_t>(std::max<ssize_t>(count, 0)));
  close(ends[0]);
  close(ends[1]);
  return pid;
}

TEST(ScratchFolderTest, IsForItsUserAloneAndGoesWithItsFiles) {
  std::string path;
  {
    const auto folder = ScratchFolder::Make(testing::TempDir(), "scratch-");
    ASSERT_TRUE(folder.ok()) << folder.status();
    path = folder->path();
    struct stat info{};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    std::ofstream(path + "/file") << "bytes";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolderTest, WhatAKilledProcessLeftIsRemovedByTheNextAndNothingElse) {
  const std::string parent = testing::TempDir() + "/leftovers-" + std::to_string(getpid());
  fs::create_directory(parent);
  std::string left;
  std::string in_use;
  const pid_t killed = StartMaker(parent, &left);
  const pid_t alive = StartMaker(parent, &in_use);
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  const std::string other = parent + "/made-by-somebody";
  fs::create_directory(other);
  for (const std::string& folder : {left, in_use, other}) Age(folder);
  const auto next = ScratchFolder::Make(parent, "made-");
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(in_use + "/file"));
  EXPECT_TRUE(fs::exists(other));
  kill(alive, SIGKILL);
  waitpid(alive, nullptr, 0);
  fs::remove_all(parent);
}

}  // namespace
}  // namespace hone
