// Disks that fail, that are full, and that lose power; bits that flip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/random.h"
#include "support/status.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/fault_script.h"
#include "tests/tuning_db/fault_vfs.h"
#include "tests/tuning_db/temp_folder.h"
#include "tests/tuning_db/version7.h"
#include "tuning_db/log_io.h"
#include "tuning_db/store.h"
#include "tuning_db/try_migration.h"

namespace hone::tuning_db {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class StorageFaults : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(OpenSqliteStore(folder_ / "empty.db", OpenMode::kCreate).ok());
  }
  // A new database, to be written by a script.
  std::string Fresh() {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      std::filesystem::remove(path_ + suffix);
    }
    std::filesystem::copy_file(folder_ / "empty.db", path_);
    return path_;
  }
  // The calls of a script that nothing disturbs.
  int64_t CountCalls(FaultVfs& disk) {
    FaultScript script(Fresh());
    disk.Arm(FaultVfs::Fault::kNone, 0);
    script.Run();
    const int64_t calls = disk.calls();
    all_acknowledged_ = script.acknowledged();
    script.ExpectAcknowledged();
    return calls;
  }
  void FailAtEachCall(FaultVfs::Fault fault) {
    FaultVfs disk;
    const int64_t calls = CountCalls(disk);
    EXPECT_GT(calls, 200);
    int64_t struck = 0;
    for (int64_t at = 1; at <= calls; ++at) {
      SCOPED_TRACE(at);
      FaultScript script(Fresh());
      disk.Arm(fault, at);
      script.Run();
      struck += disk.HasStruck() ? 1 : 0;
      disk.Arm(FaultVfs::Fault::kNone, 0);
      script.ExpectAcknowledged();
      if (HasFailure()) return;
    }
    EXPECT_GT(struck, calls / 2);
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "hone.db";
  int all_acknowledged_ = 0;
};

TEST_F(StorageFaults, AnIoErrorAtEachCallLosesNothingThatWasAcknowledged) {
  FailAtEachCall(FaultVfs::Fault::kIoError);
}

TEST_F(StorageFaults, AFullDiskAtEachCallLosesNothingThatWasAcknowledged) {
  FailAtEachCall(FaultVfs::Fault::kDiskFull);
}

TEST_F(StorageFaults, AThousandPowerLossesLoseNothingThatWasAcknowledged) {
  FaultVfs disk;
  const int64_t calls = CountCalls(disk);
  Random random(20261126);
  int partly = 0;
  for (int64_t loss = 0; loss < 1000 || loss < calls; ++loss) {
    const int64_t at = 1 + loss % calls;
    SCOPED_TRACE(testing::Message() << "loss " << loss << " at call " << at);
    FaultScript script(Fresh());
    disk.Arm(FaultVfs::Fault::kPowerLoss, at);
    script.Run();
    ASSERT_TRUE(disk.HasStruck());
    disk.LosePower(random);
    script.ExpectAcknowledged();
    partly += script.acknowledged() > 0 && script.acknowledged() < all_acknowledged_ ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(partly, 500) << "most losses come amid the script";
}

TEST_F(StorageFaults, ADryRunThatFailsAtAnyCallSaysSoAndLeavesNothing) {
  FillVersion7(path_);
  const std::string before = folder_.Contents()[path_];
  FaultVfs disk;
  disk.Arm(FaultVfs::Fault::kNone, 0);
  ASSERT_TRUE(TryMigration(path_).ok());
  const int64_t calls = disk.calls();
  int64_t failed = 0;
  for (const auto fault : {FaultVfs::Fault::kDiskFull, FaultVfs::Fault::kIoError}) {
    for (int64_t at = 1; at <= calls; at += 3) {
      SCOPED_TRACE(at);
      disk.Arm(fault, at);
      const auto trial = TryMigration(path_);
      disk.Arm(FaultVfs::Fault::kNone, 0);
      failed += trial.ok() ? 0 : 1;
      EXPECT_THAT(std::string(trial.status().message()), Not(HasSubstr("\n")));
      // A page of the copy that cannot be read is a fault of it.
      if (trial.ok() && fault == FaultVfs::Fault::kDiskFull) {
        EXPECT_THAT(trial->faults, IsEmpty());
      }
      for (const auto& [file, bytes] : folder_.Contents()) {
        EXPECT_THAT(file, Not(HasSubstr("dry-run")));
        if (file == path_) {
          EXPECT_EQ(bytes, before);
        }
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(failed, calls / 10);
}

// All that the database says, in words.
absl::StatusOr<std::string> Everything(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const auto store, OpenSqliteStore(path, OpenMode::kReadOnly));
  std::ostringstream out;
  HONE_ASSIGN_OR_RETURN(const auto jobs, store->Jobs());
  for (const Job& job : jobs) {
    out << job.id << job.client_id << job.model << Name(job.state) << job.ran_ns << job.epoch;
    HONE_ASSIGN_OR_RETURN(const auto events, store->ListEvents(job.id, 0, 0));
    for (const Event& event : events) out << event.seq << event.kind << event.payload;
    HONE_ASSIGN_OR_RETURN(const auto progress, store->Progress(job.id));
    for (const TaskProgress& task : progress) out << task.trials << "," << task.best_ns;
  }
  HONE_RETURN_IF_ERROR(ExportLog(*store, {.with_retracted = true}, out).status());
  HONE_ASSIGN_OR_RETURN(const auto of_device, store->Records({.device = "cpu of a test"}));
  for (const Record& record : of_device) out << record.id << record.worker << record.median_ns;
  HONE_ASSIGN_OR_RETURN(const auto open, store->OpenTrials(0));
  for (const Trial& trial : open) out << trial.id << trial.config << trial.strikes << trial.device;
  HONE_ASSIGN_OR_RETURN(const auto rests, store->ListDeviceRests());
  for (const DeviceRest& rest : rests) out << rest.worker << rest.device << rest.losses;
  HONE_ASSIGN_OR_RETURN(const auto misses, store->ListMisses(""));
  for (const Miss& miss : misses) out << miss.workload << miss.count << miss.tier;
  return out.str();
}

TEST_F(StorageFaults, TenThousandFlippedBitsAreAnErrorOrChangeNothing) {
  FaultScript script(Fresh());
  script.Run();
  const std::string right = Everything(path_).value();
  ASSERT_GT(right.size(), 1000u);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  const auto size = std::filesystem::file_size(path_);
  Random random(4711);
  int errors = 0;
  for (int flip = 0; flip < 10'000; ++flip) {
    const auto at = static_cast<std::streamoff>(random.Below(size));
    const auto bit = static_cast<char>(1 << random.Below(8));
    const auto invert = [&] {
      char byte = 0;
      file.seekg(at).read(&byte, 1);
      byte = static_cast<char>(byte ^ bit);
      file.seekp(at).write(&byte, 1).flush();
    };
    invert();
    const auto answer = Everything(path_);
    invert();
    errors += answer.ok() ? 0 : 1;
    if (answer.ok()) ASSERT_EQ(*answer, right) << "bit " << int{bit} << " of byte " << at;
  }
  EXPECT_GT(errors, 5000) << "pages that nobody reads are few";
  EXPECT_EQ(Everything(path_).value(), right);
}

}  // namespace
}  // namespace hone::tuning_db
