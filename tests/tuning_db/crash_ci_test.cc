// Kills the writer at every point it has, and at moments of nobody's choice.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/random.h"
#include "tests/tuning_db/crash_harness.h"
#include "tests/tuning_db/version7.h"
#include "tuning_db/log_io.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/schema.h"

namespace hone::tuning_db {
namespace {

using testing::IsSupersetOf;

constexpr int kCrashTrials = 7;

TEST(CrashPoints, EveryTransitionIsSurroundedByPoints) {
  CrashRun run(kCrashTrials);
  const std::vector<std::string> points = run.ListPoints();
  std::set<std::string> wanted = {"lock.before_open",   "lock.taken",          "lock.named",
                                  "lock.released",      "create.before_build", "create.built",
                                  "file.rename.before", "file.rename.after"};
  for (int version = 1; version <= sqlite::NewestVersion(); ++version) {
    for (const char* when : {"before", "before_commit", "after_commit"}) {
      wanted.insert(fmt::format("migration.{}.{}", version, when));
    }
  }
  for (const char* change :
       {"begin_epoch", "take_jobs", "renew_jobs", "ensure_task", "submit_job", "set_job_state",
        "set_job_ran", "propose", "lease", "release", "settle", "set_device_rest", "import",
        "add_final", "add_model_final", "record_misses"}) {
    for (const char* when : {"before", "before_commit", "after_commit"}) {
      wanted.insert(std::string("store.") + change + "." + when);
    }
  }
  EXPECT_THAT(std::set<std::string>(points.begin(), points.end()), IsSupersetOf(wanted));
}

TEST(CrashPoints, KilledAtEachNothingIsLostAndTheScriptEndsAlike) {
  CrashRun undisturbed(kCrashTrials);
  const std::vector<std::string> passages = Passages(undisturbed.ListPoints());
  const std::string expected = undisturbed.Summary();
  EXPECT_GT(passages.size(), 100u);
  for (const std::string& passage : passages) {
    SCOPED_TRACE(passage);
    CrashRun run(kCrashTrials);
    ASSERT_EQ(run.LiveUntil(passage), CrashRun::End::kKilled);
    run.ExpectNothingLost();
    ASSERT_EQ(run.LiveUntil(""), CrashRun::End::kFinished);
    run.ExpectNothingLost();
    ASSERT_EQ(run.Summary(), expected);
  }
}

// A database of version 1, which the first life migrates.
void MakeOldDatabase(const std::string& path) {
  const auto db = sqlite::Connection::Open(path, sqlite::Access::kCreate).value();
  ASSERT_TRUE(
      db->Execute("PRAGMA application_id = " + std::to_string(sqlite::kApplicationId)).ok());
  ASSERT_TRUE(sqlite::Migrate(*db, 1).ok());
  ASSERT_TRUE(db->Execute("PRAGMA journal_mode = WAL").ok());
}

// That of "migration.VERSION.WHEN:1".
int VersionIn(const std::string& passage) {
  return std::stoi(passage.substr(std::string_view("migration.").size()));
}

int VersionOf(const std::string& path) {
  const auto db = sqlite::Connection::Open(path, sqlite::Access::kRead).value();
  return sqlite::VersionOf(*db).value();
}

TEST(CrashPoints, KilledInAMigrationItIsDoneOrNot) {
  CrashRun undisturbed(kCrashTrials);
  MakeOldDatabase(undisturbed.database());
  const std::vector<std::string> passages = Passages(undisturbed.ListPoints());
  const std::string expected = undisturbed.Summary();
  int migrations = 0;
  for (const std::string& passage : passages) {
    if (!passage.starts_with("migration.")) continue;
    ++migrations;
    SCOPED_TRACE(passage);
    CrashRun run(kCrashTrials);
    MakeOldDatabase(run.database());
    ASSERT_EQ(run.LiveUntil(passage), CrashRun::End::kKilled);
    const int running = VersionIn(passage);
    const bool is_done = passage.find(".after_commit") != std::string::npos;
    EXPECT_EQ(VersionOf(run.database()), is_done ? running : running - 1);
    ASSERT_EQ(run.LiveUntil(""), CrashRun::End::kFinished);
    run.ExpectNothingLost();
    ASSERT_EQ(run.Summary(), expected);
  }
  EXPECT_EQ(migrations, 3 * (sqlite::NewestVersion() - 1));
}

// The log, and what happened to the job.
std::string ContentsOf(const std::string& path) {
  const auto store = OpenSqliteStore(path, OpenMode::kReadOnly).value();
  EXPECT_THAT(store->Check().value(), testing::IsEmpty());
  std::stringstream contents;
  EXPECT_TRUE(ExportLog(*store, {}, contents).ok());
  const std::vector<Event> events = store->ListEvents(1, 0, 0).value();
  for (const Event& event : events) contents << event.kind << " " << event.payload << "\n";
  const std::vector<Trial> open = store->OpenTrials(0).value();
  for (const Trial& trial : open) contents << trial.id << " " << trial.fence << "\n";
  return contents.str();
}

TEST(CrashPoints, KilledInAMigrationOfAFilledDatabaseItsRowsStay) {
  CrashRun undisturbed(0);
  FillVersion7(undisturbed.database());
  const std::vector<std::string> passages = Passages(undisturbed.ListPoints());
  const std::string expected = ContentsOf(undisturbed.database());
  EXPECT_THAT(expected, testing::HasSubstr("signal 11"));
  int migrations = 0;
  for (const std::string& passage : passages) {
    if (!passage.starts_with("migration.")) continue;
    ++migrations;
    SCOPED_TRACE(passage);
    CrashRun run(0);
    FillVersion7(run.database());
    ASSERT_EQ(run.LiveUntil(passage), CrashRun::End::kKilled);
    const bool is_done = passage.find(".after_commit") != std::string::npos;
    EXPECT_EQ(VersionOf(run.database()), VersionIn(passage) - (is_done ? 0 : 1));
    ASSERT_EQ(run.LiveUntil(""), CrashRun::End::kFinished);
    EXPECT_EQ(ContentsOf(run.database()), expected);
  }
  EXPECT_EQ(migrations, 3 * (sqlite::NewestVersion() - 7));
}

TEST(CrashPoints, FiftyKillsAtRandomMomentsLoseNothing) {
  constexpr int kManyTrials = 60;
  CrashRun undisturbed(kManyTrials, 4);
  ASSERT_EQ(undisturbed.LiveUntil(""), CrashRun::End::kFinished);
  const std::string expected = undisturbed.Summary();
  Random random(20250711);
  for (int kills = 0; kills < 50;) {
    CrashRun run(kManyTrials, 4);
    CrashRun::End end = CrashRun::End::kKilled;
    while (end == CrashRun::End::kKilled) {
      end =
          run.LiveFor(2'000 + static_cast<int64_t>(random.Below(kills < 50 ? 60'000 : 5'000'000)));
      kills += end == CrashRun::End::kKilled;
      ASSERT_NE(end, CrashRun::End::kFailed);
      run.ExpectNothingLost();
    }
    // Events stand in the order of settlement, which threads decide; the summary sorts them.
    ASSERT_EQ(run.Summary(), expected);
  }
}

}  // namespace
}  // namespace hone::tuning_db
