// Daemons and workers with a fake compiler, as processes of their own for tests to kill.
#ifndef HONE_TESTS_TUNER_FAKE_FARM_H_
#define HONE_TESTS_TUNER_FAKE_FARM_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/tuning.grpc.pb.h"
#include "support/child_process.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// Up to `count` daemons on one database, each with a socket of its own and up to one worker. The
// farm has a folder of its own, which is gone with it.
class FakeFarm {
 public:
  // An empty `database` stands for a SQLite file in the folder.
  explicit FakeFarm(size_t count = 1, const std::string& database = "");
  ~FakeFarm();
  FakeFarm(const FakeFarm&) = delete;
  FakeFarm& operator=(const FakeFarm&) = delete;

  // Another life of this daemon, under the same name; the old one is killed. Waits until it serves,
  // or has died on the way at `crash_at` (POINT:PASSAGE; empty: nowhere).
  void StartDaemon(size_t i = 0, const std::string& crash_at = "");
  // The daemon dies by SIGKILL and is reaped.
  void KillDaemon(size_t i = 0) { daemons_[i].reset(); }
  // The worker of this daemon, which need not run yet; the old one is killed.
  void StartWorker(size_t i = 0);

  // Submits a job of the tasks "conv" and "dense", which get the ids 1 and 2, to this daemon. It is
  // the same job each time that a client id is used, and fails if the daemon dies meanwhile.
  absl::StatusOr<int64_t> Submit(const std::string& client_id, int64_t trials, size_t i = 0);

  ChildProcess& daemon(size_t i = 0) { return *daemons_[i]; }
  std::string Address(size_t i = 0) const { return "unix:" + Socket(i); }
  std::unique_ptr<hone::v1::TuningService::Stub> Stub(size_t i = 0) const;
  // Read-only.
  std::unique_ptr<tuning_db::Store> OpenStore() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path Folder(size_t i) const { return folder_ / std::to_string(i); }
  std::string Socket(size_t i) const { return (Folder(i) / "socket").string(); }

  std::filesystem::path folder_;
  std::string database_;
  std::vector<std::unique_ptr<ChildProcess>> daemons_;
  std::vector<std::unique_ptr<ChildProcess>> workers_;
};

// Expects what holds at the end of jobs of FakeFarm::Submit, whatever happened on the way: each
// task spent exactly so many trials, none is left open, and each was settled once.
void ExpectSound(tuning_db::Store& store, int64_t trials);

}  // namespace hone::tuner

#endif  // HONE_TESTS_TUNER_FAKE_FARM_H_
