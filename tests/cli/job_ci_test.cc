// Jobs that are interrupted, watched and cancelled from the command line.
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/child_process.h"
#include "support/clock.h"
#include "support/user_name.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using tuning_db::JobState;

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
  EXPECT_EQ(RunHone({"job", "pause", "1", "--db", "hone.db"}, folder_.path()).exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return watch.Err().find("it is paused") != std::string::npos; }));
  EXPECT_EQ(RunHone({"job", "resume", "1", "--db", "hone.db"}, folder_.path()).exit_code, 0);
  auto worker = ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--server", Server()});
  ASSERT_TRUE(worker.ok()) << worker.status();
  ASSERT_TRUE(Eventually([&] { return watch.Err().find("job 1 goes on") != std::string::npos; }))
      << watch.Err();
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

// Runs `hone job` with --json, and returns what it prints.
nlohmann::json JobJson(std::vector<std::string> arguments, const std::string& folder) {
  arguments.insert(arguments.begin(), "job");
  arguments.push_back("--json");
  const Finished finished = RunHone(arguments, folder);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return nlohmann::json::parse(finished.out, nullptr, false);
}

TEST_F(Jobs, AJobIsPausedListedResumedAndClonedWithAHonedAndWithout) {
  StartHoned();
  const std::vector<std::string> submit = {"submit",     "mlp.onnx", "--target",    "native",
                                           "--server",   Server(),   "--trials",    "8",
                                           "--priority", "2",        "--client-id", "mine"};
  EXPECT_EQ(JobJson(submit, folder_.path())["job"], 1);
  EXPECT_EQ(JobJson(submit, folder_.path())["job"], 1) << "the client keeps its id";
  std::vector<std::string> other = submit;
  other.insert(other.begin(), "job");
  std::ranges::replace(other, "8", "9");
  const Finished refused = RunHone(other, folder_.path());
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("the client id \"mine\" is that of job 1"));
  EXPECT_EQ(JobJson({"pause", "1", "--server", Server()}, folder_.path())["state"], "paused");
  EXPECT_EQ(JobJson({"pause", "1", "--server", Server()}, folder_.path())["state"], "paused");
  const nlohmann::json clone =
      JobJson({"clone", "1", "--trials", "5", "--seed", "9", "--server", Server()}, folder_.path());
  EXPECT_EQ(clone["job"], 2);
  EXPECT_EQ(clone["clone_of"], 1);
  EXPECT_EQ(clone["seed"], 9);
  EXPECT_EQ(clone["priority"], 2) << "as the other has it";

  const nlohmann::json open = JobJson({"list", "--server", Server()}, folder_.path())["jobs"];
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[0]["job"], 2) << "newest first";
  EXPECT_EQ(open[1]["state"], "paused");
  const std::string submitter = open[1]["submitter"];
  EXPECT_EQ(submitter, UserName(geteuid()));
  const auto count = [&](const std::vector<std::string>& filter) {
    std::vector<std::string> arguments = {"list", "--server", Server()};
    arguments.insert(arguments.end(), filter.begin(), filter.end());
    return JobJson(arguments, folder_.path())["jobs"].size();
  };
  EXPECT_EQ(count({"--state", "paused"}), 1u);
  EXPECT_EQ(count({"--state", "paused,running"}), 2u);
  EXPECT_EQ(count({"--state", "done"}), 0u);
  EXPECT_EQ(count({"--submitter", submitter}), 2u);
  EXPECT_EQ(count({"--submitter", "nobody else"}), 0u);
  EXPECT_EQ(
      RunHone({"job", "list", "--state", "odd", "--server", Server()}, folder_.path()).exit_code,
      2);

  honed_.reset();  // from here on in the file
  const auto state = [&](const std::string& job) {
    return JobJson({"show", job, "--db", "hone.db"}, folder_.path())["state"].get<std::string>();
  };
  EXPECT_EQ(state("1"), "paused") << "it outlives the honed";
  EXPECT_THAT(RunHone({"job", "list", "--db", "hone.db"}, folder_.path()).err,
              HasSubstr("no honed serves"));
  EXPECT_EQ(JobJson({"pause", "2", "--db", "hone.db"}, folder_.path())["state"], "paused");
  EXPECT_EQ(JobJson({"resume", "1", "--db", "hone.db"}, folder_.path())["state"], "queued");
  EXPECT_EQ(JobJson({"clone", "2", "--db", "hone.db"}, folder_.path())["job"], 3);
  EXPECT_EQ(
      JobJson({"list", "--state", "queued", "--db", "hone.db"}, folder_.path())["jobs"].size(), 2u);
  EXPECT_EQ(JobJson({"cancel", "3", "--db", "hone.db"}, folder_.path())["state"], "cancelled");
  EXPECT_EQ(RunHone({"job", "pause", "3", "--db", "hone.db"}, folder_.path()).exit_code, 7);
  EXPECT_EQ(RunHone({"job", "resume", "9", "--db", "hone.db"}, folder_.path()).exit_code, 3);

  StartHoned();
  EXPECT_EQ(state("2"), "paused") << "also of the next";
  EXPECT_EQ(JobJson({"resume", "2", "--server", Server()}, folder_.path())["state"], "running");
}

TEST_F(Jobs, AModelMayHaveAnyNameAndTheListSaysWhatItWaitsFor) {
  StartHoned();
  const std::string name = "m\n\x1b[2J\xff.onnx";
  std::filesystem::copy(folder_ / "mlp.onnx", folder_ / name);
  const nlohmann::json submitted =
      JobJson({"submit", name, "--target", "native", "--server", Server()}, folder_.path());
  EXPECT_EQ(submitted["job"], 1);
  EXPECT_EQ(JobJson({"show", "1", "--server", Server()}, folder_.path())["model"],
            "m\n\x1b[2J\ufffd.onnx");
  ASSERT_TRUE(Eventually([&] {
    return JobJson({"show", "1", "--server", Server()}, folder_.path())["waiting"] != "";
  }));
  const Finished list = RunHone({"job", "list", "--server", Server()}, folder_.path());
  const std::string waits = "\n       waits: no connected device has the target llvm";
  EXPECT_EQ(std::ranges::count(list.out, '\n'), 3) << list.out;
  EXPECT_THAT(list.out, HasSubstr("  m??[2J\ufffd.onnx" + waits));
}

}  // namespace
}  // namespace hone::cli
