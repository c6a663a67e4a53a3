// Jobs that are interrupted, watched and cancelled from the command line.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/child_process.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using tuning_db::JobState;

constexpr int64_t kSecondNs = 1'000'000'000;

class Jobs : public ::testing::Test {
 protected:
  Jobs() {
    EXPECT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
  }
  std::vector<std::string> Tune(const std::string& trials, const std::string& threads) const {
    return {"tune", "mlp.onnx",  "--db",  "hone.db",      "--trials",
            trials, "--threads", threads, "--full-budget"};
  }
  std::unique_ptr<tuning_db::Store> Open() const {
    auto store = tuning_db::OpenSqliteStore(folder_ / "hone.db", tuning_db::OpenMode::kReadOnly);
    return store.ok() ? *std::move(store) : nullptr;
  }
  size_t CountRecords() const {
    const auto store = Open();
    return store == nullptr ? 0 : store->Records({}).value().size();
  }
  // A honed without workers.
  void StartHoned() {
    auto child = ChildProcess::Start(
        {HONE_BIN_DIR "/honed", "--db", folder_ / "hone.db", "--socket", folder_ / "socket"});
    ASSERT_TRUE(child.ok()) << child.status();
    honed_ = std::make_unique<ChildProcess>(*std::move(child));
    ASSERT_TRUE(honed_->ReadLine(30 * kSecondNs).ok());
  }
  std::string Server() const { return "unix:" + (folder_ / "socket"); }
  // One job: no micro-kernels are measured before it.
  std::vector<std::string> TuneAtServer() const {
    return {"tune",     "mlp.onnx", "--target",        "native",
            "--server", Server(),   "--micro-kernels", "never"};
  }

  TestFolder folder_;
  std::unique_ptr<ChildProcess> honed_;
};

TEST_F(Jobs, CtrlCOfALocalTuneCancelsItsJobAndTheNextTuneIsFree) {
  RunningHone first(Tune("100000", "1"), folder_.path());
  ASSERT_TRUE(Eventually([&] { return CountRecords() > 0 || first.HasEnded(); }));
  first.PressCtrlC();
  const Finished interrupted = first.Finish();
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr("what was settled stays"));
  {
    const auto store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->GetJob(1)->state, JobState::kCancelled);
    EXPECT_TRUE(store->OpenTrials(0)->empty());
    EXPECT_FALSE(store->Records({})->empty());
  }
  // Another target: nothing of the first job is in its way.
  const Finished next = RunHone(Tune("2", "2"), folder_.path());
  EXPECT_EQ(next.exit_code, 0) << next.err;
}

TEST_F(Jobs, AJobOfAServerGoesOnAfterCtrlCAndIsWatchedAndCancelled) {
  StartHoned();
  RunningHone tune(TuneAtServer(), folder_.path());
  ASSERT_TRUE(Eventually([&] {
    return tune.Err().find("no connected device has the target") != std::string::npos;
  })) << tune.Err();
  tune.PressCtrlC();
  const Finished detached = tune.Finish();
  EXPECT_EQ(detached.exit_code, 130);
  EXPECT_THAT(detached.err, HasSubstr("hone job watch 1 --server " + Server()));
  EXPECT_THAT(detached.err, HasSubstr("hone job cancel 1 --server " + Server()));

  RunningHone watch({"job", "watch", "1", "--db", "hone.db"}, folder_.path());
  ASSERT_TRUE(Eventually([&] { return watch.Err().find("job 1 waits") != std::string::npos; }));
  EXPECT_FALSE(watch.HasEnded());
  EXPECT_EQ(RunHone({"job", "cancel", "1", "--db", "hone.db"}, folder_.path()).exit_code, 0);
  const Finished watched = watch.Finish();
  EXPECT_EQ(watched.exit_code, 8) << watched.err;
  EXPECT_THAT(watched.err, HasSubstr("cancelled"));
}

TEST_F(Jobs, CtrlCTwiceCancelsAJobOfAServer) {
  StartHoned();
  RunningHone tune(TuneAtServer(), folder_.path());
  ASSERT_TRUE(Eventually([&] { return tune.Err().find("job 1 waits") != std::string::npos; }));
  tune.PressCtrlC();
  ASSERT_TRUE(Eventually([&] { return tune.Err().find("detached") != std::string::npos; }));
  tune.PressCtrlC();
  const Finished cancelled = tune.Finish();
  EXPECT_EQ(cancelled.exit_code, 130);
  EXPECT_THAT(cancelled.err, HasSubstr("job 1 is cancelled"));
  EXPECT_EQ(Open()->GetJob(1)->state, JobState::kCancelled);
}

TEST_F(Jobs, AWatchOutlivesARestartOfTheDaemon) {
  StartHoned();
  RunningHone watch(TuneAtServer(), folder_.path());
  ASSERT_TRUE(Eventually([&] { return watch.Err().find("job 1 waits") != std::string::npos; }));
  honed_.reset();
  StartHoned();
  ASSERT_EQ(RunHone({"job", "cancel", "1", "--server", Server()}, folder_.path()).exit_code, 0);
  EXPECT_EQ(watch.Finish().exit_code, 8);
}

}  // namespace
}  // namespace hone::cli
