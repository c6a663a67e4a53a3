#include "tuning_db/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using testing::IsEmpty;

class BackupTest : public testing::Test {
 protected:
  TempFolder folder_;
  const std::string path_ = folder_ / "hone.db";
  const std::string copy_ = folder_ / "copy.db";
};

TEST_F(BackupTest, IsASoundStateOfADatabaseThatIsBeingWritten) {
  const auto store = OpenSqliteStore(path_, OpenMode::kCreate).value();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  std::atomic<int64_t> acknowledged = 0;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int n = 0; !stop; ++n) {
      EXPECT_TRUE(store->Import(ExampleTrial(task, 0, n), ExampleRecord(0)).ok());
      acknowledged = n + 1;
    }
  });
  while (acknowledged < 5) std::this_thread::yield();
  const int64_t before = acknowledged;
  const absl::Status status = BackUpSqlite(path_, copy_);
  stop = true;
  writer.join();
  ASSERT_TRUE(status.ok()) << status;
  const auto copy = OpenSqliteStore(copy_, OpenMode::kReadWrite);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_THAT((*copy)->Check().value(), IsEmpty());
  EXPECT_GE(static_cast<int64_t>((*copy)->Records({})->size()), before);
  EXPECT_TRUE((*copy)->Import(ExampleTrial(1, 0, 1'000'000), ExampleRecord(0)).ok())
      << "it may be written like any other";
}

TEST_F(BackupTest, ReplacesNothing) {
  ASSERT_TRUE(OpenSqliteStore(path_, OpenMode::kCreate).ok());
  WriteBytes(copy_, "precious");
  EXPECT_TRUE(absl::IsAlreadyExists(BackUpSqlite(path_, copy_)));
  EXPECT_EQ(folder_.Contents()[copy_], "precious");
  EXPECT_TRUE(absl::IsNotFound(BackUpSqlite(folder_ / "none.db", folder_ / "other.db")));
  EXPECT_TRUE(absl::IsInvalidArgument(BackUpSqlite(copy_, folder_ / "other.db")));
  EXPECT_EQ(folder_.Contents().size(), 3u) << "the database, its lock file and the other file";
}

}  // namespace
}  // namespace hone::tuning_db
