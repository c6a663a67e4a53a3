#include "tests/tuning_db/version7.h"

#include <gtest/gtest.h>

#include "support/digest.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/schema.h"

namespace hone::tuning_db {
namespace {

void Must(sqlite::Connection& db, const std::string& sql) {
  const absl::Status status = db.Execute(sql);
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace

void FillVersion7(const std::string& path) {
  WriteBytes(path, "");  // an empty file has no room for checksums, as none had then
  const auto db = sqlite::Connection::Open(path, sqlite::Access::kWrite).value();
  Must(*db, "PRAGMA application_id = " + std::to_string(sqlite::kApplicationId));
  ASSERT_TRUE(sqlite::Migrate(*db, 7).ok());
  Must(*db, "PRAGMA journal_mode = WAL");
  const Task task = ExampleTask();
  int64_t id = 0;
  for (const std::string& text :
       {task.workload, task.target, std::string(kSignature), ExampleTrial(0, 0, 1).config,
        ExampleTrial(0, 0, 2).config, ExampleTrial(0, 0, 3).config, ExampleTrial(0, 0, 4).config,
        std::string("llvm 19.1.7"), std::string("cpu of a test"), std::string()}) {
    ASSERT_TRUE(db->Run("INSERT INTO texts VALUES (?, ?, ?)", ++id, Sha256Hex(text), text).ok());
  }
  ASSERT_TRUE(
      db->Run("INSERT INTO tasks VALUES (1, 1, ?, ?, 2)", task.workload_digest, task.anchor_digest)
          .ok());
  Must(*db,
       "INSERT INTO jobs (id, client_id, model, target, seed, priority, deadline_ns, search, "
       "owner, epoch, state, message) VALUES (1, 'c', 'm', 'llvm', 1, 0, 0, '', 'd', 5, 1, '')");
  ASSERT_TRUE(db->Run("INSERT INTO job_tasks VALUES (1, 0, 1, 3, 'conv', 1, 64)").ok());
  for (int n = 1; n <= 4; ++n) {
    const Trial trial = ExampleTrial(1, 1, n);
    const int state = n <= 2 ? 2 : n == 3 ? 1 : 0;
    const int leases = n <= 3 ? 1 : 0;
    ASSERT_TRUE(db->Run("INSERT INTO trials VALUES (?, 1, 3, ?, ?, ?, 0, 0, 1, ?, ?, ?, ?)", n,
                        3 + n, trial.config_digest, trial.nest_digest, state, leases, leases * n,
                        leases == 1 ? "worker-1" : "")
                    .ok());
  }
  const Record record = ExampleRecord(1, 1234);
  ASSERT_TRUE(db->Run("INSERT INTO records VALUES (1, 1, 0, '', ?, 1234, 100, 2000, 0.25, ?, 8, "
                      "9, 'warm', 'worker-1', ?)",
                      record.samples_ns, record.artifact_digest, record.wall_time_ns)
                  .ok());
  Must(*db,
       "INSERT INTO records VALUES (2, 2, 5, 'signal 11', x'', 0, 0, 0, NULL, '', 10, 10, '', "
       "'worker-1', 7)");
  Must(*db, "UPDATE counters SET value = 3 WHERE name = 'fence'");
  Must(*db,
       "INSERT INTO events VALUES (1, 1, 'state', '{\"state\":\"running\"}', 3), "
       "(1, 2, 'trial_settled', '{\"trial\":1}', 4), (1, 3, 'trial_settled', "
       "'{\"trial\":2}', 5), (1, 4, 'final', '{}', 6)");
  Must(*db,
       "INSERT INTO finals VALUES (1, 1, 3, 1, 64, 5000, 0, 0, 8, 9, 8, 0);"
       "INSERT INTO final_entries VALUES (1, 0, 4, 'nest', 'artifact', x'', 1001, 1.5)");
  Must(*db, "INSERT INTO misses VALUES (1, 1, 'w', 3, 2, 'default', 'resnet18', 2)");
}

void MigrateTo(const std::string& path, int version) {
  const auto db = sqlite::Connection::Open(path, sqlite::Access::kWrite).value();
  const absl::Status status = sqlite::Migrate(*db, version);
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace hone::tuning_db
