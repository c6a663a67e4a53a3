// Files that are no tuning database: one clear sentence each, and nothing is changed on the disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "support/file_system.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_file.h"
#include "tuning_db/sqlite/schema.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class BadFilesTest : public testing::Test {
 protected:
  // Opened in every mode, the file is refused with this code and these words, and stays.
  void ExpectRefused(absl::StatusCode code, const std::string& words) {
    const auto before = folder_.Contents();
    for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite, OpenMode::kCreate}) {
      const auto store = OpenSqliteStore(path_, mode);
      EXPECT_EQ(store.status().code(), code) << store.status();
      EXPECT_THAT(std::string(store.status().message()),
                  AllOf(HasSubstr(path_), HasSubstr(words), Not(HasSubstr("\n"))));
      EXPECT_EQ(folder_.Contents(), before);
    }
  }
  void MakeDatabase(int trials = 0) {
    const auto store = OpenSqliteStore(path_, OpenMode::kCreate).value();
    const int64_t task = store->EnsureTask(ExampleTask()).value();
    for (int n = 0; n < trials; ++n) store->Propose({ExampleTrial(task, 0, n)}).value();
  }
  void Execute(const std::string& sql) {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kCreate).value();
    ASSERT_TRUE(db->Execute(sql).ok());
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "hone.db";
};

TEST_F(BadFilesTest, EmptyFile) {
  WriteBytes(path_, "");
  ExpectRefused(absl::StatusCode::kInvalidArgument, "is empty");
}

TEST_F(BadFilesTest, TextFile) {
  WriteBytes(path_, std::string(5000, 'x'));
  ExpectRefused(absl::StatusCode::kInvalidArgument, "not a SQLite database");
}

TEST_F(BadFilesTest, HeaderOnly) {
  WriteBytes(path_, std::string("SQLite format 3\0", 16));
  ExpectRefused(absl::StatusCode::kInvalidArgument, "not a SQLite database");
}

TEST_F(BadFilesTest, DatabaseOfAnotherProgram) {
  Execute("CREATE TABLE browser_history (url TEXT)");
  ExpectRefused(absl::StatusCode::kInvalidArgument, "of another program");
}

TEST_F(BadFilesTest, Truncated) {
  MakeDatabase(50);
  std::filesystem::remove(path_ + ".lock");
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  ExpectRefused(absl::StatusCode::kInvalidArgument, "is truncated");
}

TEST_F(BadFilesTest, NewerVersion) {
  MakeDatabase();
  Execute("PRAGMA user_version = 99");
  ExpectRefused(absl::StatusCode::kFailedPrecondition, "newer Hone");
}

// As a newer Hone leaves it that was killed: the version is in FILE-wal only.
TEST_F(BadFilesTest, NewerVersionThatIsStillInTheLogOnly) {
  MakeDatabase();
  std::map<std::string, std::string> as_killed;
  {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
    ASSERT_TRUE(db->Execute("PRAGMA user_version = 99").ok());
    as_killed = folder_.Contents();
  }
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite, OpenMode::kCreate}) {
    for (const auto& [file, bytes] : as_killed) WriteBytes(file, bytes);
    const auto store = OpenSqliteStore(path_, mode);
    EXPECT_TRUE(absl::IsFailedPrecondition(store.status())) << store.status();
    EXPECT_THAT(std::string(store.status().message()), HasSubstr("newer Hone"));
    auto after = folder_.Contents();
    EXPECT_EQ(after[path_], as_killed[path_]);
    EXPECT_EQ(after[path_ + "-wal"], as_killed[path_ + "-wal"]);
  }
}

TEST_F(BadFilesTest, Directory) {
  std::filesystem::create_directory(path_);
  ExpectRefused(absl::StatusCode::kInvalidArgument, "is a directory");
}

TEST_F(BadFilesTest, DamagedPages) {
  MakeDatabase(50);
  std::string bytes = ReadFile(path_).value();
  for (size_t i = 200; i < bytes.size(); i += 7) bytes[i] = static_cast<char>(bytes[i] ^ 0x5A);
  WriteBytes(path_, bytes);
  const auto store = OpenSqliteStore(path_, OpenMode::kReadOnly);
  const absl::Status status = store.ok() ? (*store)->GetTask(1).status() : store.status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("restore a backup"));
}

// As another user: files of ours that others may not use.
class NoPermissionTest : public BadFilesTest {
 protected:
  void SetUp() override {
    MakeDatabase();
    std::filesystem::remove(path_ + ".lock");
  }
  // access(2) goes by the real user, so reading is tested by the file system's user only.
  void BecomeNobody() {
    if (geteuid() != 0) return;  // chmod is enough
    setfsuid(65534);
  }
  void TearDown() override {
    if (geteuid() == 0) setfsuid(0);
  }
};

TEST_F(NoPermissionTest, UnreadableFile) {
  chmod(path_.c_str(), 0);
  BecomeNobody();
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite, OpenMode::kCreate}) {
    const auto store = OpenSqliteStore(path_, mode);
    EXPECT_TRUE(absl::IsPermissionDenied(store.status())) << store.status();
    EXPECT_THAT(std::string(store.status().message()), HasSubstr(path_));
  }
  EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
}

TEST_F(NoPermissionTest, FolderThatMayNotBeWritten) {
  if (geteuid() != 0) chmod(folder_.path().c_str(), 0555);
  BecomeNobody();
  EXPECT_TRUE(
      absl::IsPermissionDenied(OpenSqliteStore(folder_ / "new.db", OpenMode::kCreate).status()));
  EXPECT_TRUE(absl::IsPermissionDenied(OpenSqliteStore(path_, OpenMode::kReadWrite).status()));
  if (geteuid() != 0) chmod(folder_.path().c_str(), 0755);
}

// A library of configs that an administrator installed.
TEST_F(NoPermissionTest, DatabaseInAFolderThatMayNotBeWrittenIsRead) {
  for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  const auto before = folder_.Contents();
  if (geteuid() != 0) chmod(folder_.path().c_str(), 0555);
  BecomeNobody();
  const auto store = OpenSqliteStore(path_, OpenMode::kReadOnly);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->GetTask(1)->workload, ExampleTask().workload);
  EXPECT_EQ(folder_.Contents(), before);
  if (geteuid() != 0) return;
  setfsuid(0);
  OpenSqliteStore(path_, OpenMode::kReadWrite).value()->EnsureTask(ExampleTask(1)).value();
  setfsuid(65534);
  EXPECT_EQ((*store)->GetTask(2)->workload, ExampleTask(1).workload) << "written between two reads";
}

TEST(NetworkFileSystem, IsKnownByItsMagic) {
  EXPECT_EQ(sqlite::NetworkFileSystemName(0x6969), "NFS");
  EXPECT_EQ(sqlite::NetworkFileSystemName(0xFF534D42), "CIFS");
  EXPECT_EQ(sqlite::NetworkFileSystemName(static_cast<int>(0xFE534D42)), "SMB2")
      << "some machines have it signed";
  EXPECT_EQ(sqlite::NetworkFileSystemName(0x65735546), "FUSE");
  EXPECT_EQ(sqlite::NetworkFileSystemName(0xEF53), "") << "ext4";
  EXPECT_EQ(sqlite::NetworkFileSystemName(0x01021994), "") << "tmpfs";
  EXPECT_EQ(sqlite::NetworkFileSystemName(0x794C7630), "") << "overlayfs";
}

}  // namespace
}  // namespace hone::tuning_db
