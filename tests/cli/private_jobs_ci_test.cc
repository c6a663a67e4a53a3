// What becomes of the job of a `hone tune` whatever ends it, and who else may use its daemon.
#include <signal.h>
#include <stdlib.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/child_process.h"
#include "support/clock.h"
#include "tests/cli/processes.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tuning_db::JobState;

constexpr char kForEver[] = "100000";  // trials

class PrivateJobs : public ::testing::Test {
 protected:
  PrivateJobs() {
    EXPECT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
    // Where the private sockets are, to see that they go.
    std::filesystem::create_directory(folder_ / "run");
    setenv("XDG_RUNTIME_DIR", (folder_ / "run").c_str(), 1);
  }
  ~PrivateJobs() override { unsetenv("XDG_RUNTIME_DIR"); }

  static std::vector<std::string> Tune(const std::string& trials,
                                       const std::string& threads = "1") {
    return {"tune", "mlp.onnx",  "--db",  "hone.db",         "--trials",
            trials, "--threads", threads, "--micro-kernels", "never"};
  }
  Finished Hone(const std::vector<std::string>& args) { return RunHone(args, folder_.path()); }
  json HoneJson(std::vector<std::string> args) {
    return RunHoneJson(std::move(args), folder_.path());
  }
  std::unique_ptr<tuning_db::Store> Open() const {
    auto store = tuning_db::OpenSqliteStore(folder_ / "hone.db", tuning_db::OpenMode::kReadOnly);
    return store.ok() ? *std::move(store) : nullptr;
  }
  // A tune that has measured something and would go on for long.
  std::unique_ptr<RunningHone> TuneForEver() {
    const size_t before = CountRecords();
    auto tune = std::make_unique<RunningHone>(Tune(kForEver), folder_.path());
    EXPECT_TRUE(Eventually([&] { return CountRecords() > before || tune->HasEnded(); }));
    EXPECT_FALSE(tune->HasEnded()) << tune->Err();
    return tune;
  }
  size_t CountRecords() const {
    const auto store = Open();
    return store == nullptr ? 0 : store->Records({}).value().size();
  }
  json UnfinishedJobs() { return HoneJson({"job", "list", "--db", "hone.db"})["jobs"]; }
  // By whoever had to.
  void ExpectJobIsCancelled(int64_t job) {
    EXPECT_TRUE(Eventually([&] { return Open()->GetJob(job)->state == JobState::kCancelled; }));
    EXPECT_TRUE(Eventually([&] { return ProcessesNaming(folder_ / "run").empty(); }));
    EXPECT_THAT(Open()->OpenTrials(0).value(), IsEmpty());
    EXPECT_TRUE(UnfinishedJobs().empty());
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "run")) << "a socket is left";
  }
  // Without workers.
  void StartHoned() {
    auto child = ChildProcess::Start(
        {HONE_BIN_DIR "/honed", "--db", folder_ / "hone.db", "--socket", folder_ / "socket"});
    ASSERT_TRUE(child.ok()) << child.status();
    honed_ = std::make_unique<ChildProcess>(*std::move(child));
    ASSERT_TRUE(honed_->ReadLine(30 * kSecondNs).ok());
  }
  std::string Server() const { return "unix:" + (folder_ / "socket"); }

  TestFolder folder_;
  std::unique_ptr<ChildProcess> honed_;
};

TEST_F(PrivateJobs, EndWithTheirClientHoweverItEnds) {
  int64_t job = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    const auto tune = TuneForEver();
    tune->Send(signal);
    EXPECT_EQ(tune->Finish().exit_code, signal == SIGKILL ? 128 + SIGKILL : 130) << signal;
    ExpectJobIsCancelled(++job);
  }
}

TEST_F(PrivateJobs, OfATuneUnderNohupOutliveTheTerminal) {
  ::signal(SIGHUP, SIG_IGN);
  RunningHone tune(Tune("40"), folder_.path());
  ::signal(SIGHUP, SIG_DFL);
  ASSERT_TRUE(Eventually([&] { return CountRecords() > 0 || tune.HasEnded(); }));
  tune.Send(SIGHUP);
  const Finished finished = tune.Finish();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

TEST_F(PrivateJobs, EndWhenTheWorkerOrTheDaemonIsKilled) {
  int64_t job = 0;
  for (const char* const victim : {"hone-measure", "honed"}) {
    const auto tune = TuneForEver();
    const pid_t process = ChildNamed(tune->pid(), victim);
    ASSERT_GT(process, 0);
    kill(process, SIGKILL);
    const Finished finished = tune->Finish();
    EXPECT_EQ(finished.exit_code, 5) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("(" + std::string(victim) + ") ended"));
    ExpectJobIsCancelled(++job);
  }
}

TEST_F(PrivateJobs, ThatNobodyCouldEndAreEndedByTheNextDaemon) {
  {
    const auto tune = TuneForEver();
    const pid_t daemon = ChildNamed(tune->pid(), "honed");
    tune->Send(SIGSTOP);
    kill(daemon, SIGKILL);
    tune->Send(SIGKILL);
    tune->Finish();
  }
  ASSERT_TRUE(Eventually([&] { return ProcessesNaming(folder_ / "run").empty(); }));
  EXPECT_EQ(Open()->GetJob(1)->state, JobState::kRunning);
  // It is known already that nobody goes on with it.
  EXPECT_TRUE(UnfinishedJobs().empty());
  EXPECT_EQ(HoneJson({"job", "show", "1", "--db", "hone.db"})["state"], "cancelled");

  EXPECT_EQ(Hone(Tune("1")).exit_code, 0);
  EXPECT_EQ(Open()->GetJob(1)->state, JobState::kCancelled);
  EXPECT_EQ(Open()->GetJob(1)->message, "its hone tune has ended");
  EXPECT_THAT(Open()->OpenTrials(0).value(), IsEmpty());
}

TEST_F(PrivateJobs, OfTwoTunesTheSecondWaitsForTheFirst) {
  const auto first = TuneForEver();
  RunningHone second(Tune("2", "2"), folder_.path());
  RunningHone third(Tune("2", "2"), folder_.path());
  const std::string who = "in use by a `hone tune` (process " + std::to_string(first->pid()) + ")";
  for (const RunningHone* waiting : {&second, &third}) {
    ASSERT_TRUE(Eventually([&] { return waiting->Err().find(who) != std::string::npos; }))
        << waiting->Err();
  }
  third.PressCtrlC();
  EXPECT_EQ(third.Finish().exit_code, 130) << "it need not wait";
  first->PressCtrlC();
  EXPECT_EQ(first->Finish().exit_code, 130);
  const Finished finished = second.Finish();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(Open()->GetJob(2)->state, JobState::kDone);
  EXPECT_TRUE(UnfinishedJobs().empty());
}

TEST_F(PrivateJobs, ATuneThatWaitedForTheSameWorkFindsItDone) {
  RunningHone first(Tune("8"), folder_.path());
  RunningHone second(Tune("8"), folder_.path());
  EXPECT_EQ(first.Finish().exit_code, 0);
  EXPECT_EQ(second.Finish().exit_code, 0);
  const auto store = Open();
  const std::vector<tuning_db::Job> jobs = store->Jobs().value();
  for (const tuning_db::Job& job : jobs) {
    EXPECT_EQ(job.state, JobState::kDone);
    for (const tuning_db::JobTask& task : job.tasks) {
      EXPECT_LE(store->CountTrials(task.task, task.signature, tuning_db::Purpose::kSearch).value(),
                8);
    }
  }
}

TEST_F(PrivateJobs, AreSeenByOthersWhoseVerbsAreToldWhoHasTheDatabase) {
  const auto tune = TuneForEver();
  const std::string who = "a `hone tune` (process " + std::to_string(tune->pid()) + ")";
  for (const std::vector<std::string>& verb :
       std::vector<std::vector<std::string>>{{"worker", "list", "--db", "hone.db"},
                                             {"job", "submit", "mlp.onnx", "--db", "hone.db"},
                                             {"job", "watch", "1", "--db", "hone.db"},
                                             {"job", "cancel", "1", "--db", "hone.db"},
                                             {"db", "migrate", "--db", "hone.db"}}) {
    const Finished finished = Hone(verb);
    EXPECT_EQ(finished.exit_code, 7) << verb[0] << " " << verb[1];
    EXPECT_THAT(finished.err, HasSubstr(who)) << verb[0] << " " << verb[1];
  }
  const json jobs = UnfinishedJobs();
  ASSERT_EQ(jobs.size(), 1);
  EXPECT_EQ(jobs[0]["state"], "running");
  EXPECT_EQ(jobs[0]["private"], true);
  EXPECT_EQ(HoneJson({"job", "show", "1", "--db", "hone.db"})["state"], "running");

  // The daemon itself refuses those who dial it all the same.
  const auto writer = tuning_db::WriterOf(folder_ / "hone.db").value();
  ASSERT_TRUE(writer);
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"job", "list"}, {"worker", "list"}, {"tune", "mlp.onnx", "--target", "native"}}) {
    std::vector<std::string> args = verb;
    args.insert(args.end(), {"--server", writer->address});
    const Finished refused = Hone(args);
    EXPECT_EQ(refused.exit_code, 7) << verb[0];
    EXPECT_THAT(refused.err, HasSubstr("private to " + who)) << verb[0];
  }
  auto worker = ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--server", writer->address});
  ASSERT_TRUE(worker.ok());
  EXPECT_TRUE(absl::IsUnavailable(worker->ReadLine(30 * kSecondNs).status()));
  EXPECT_EQ(WEXITSTATUS(worker->Stop(kSecondNs)), 7);
  EXPECT_FALSE(tune->HasEnded()) << tune->Err();
  EXPECT_EQ(Open()->Jobs()->size(), 1);
}

TEST_F(PrivateJobs, AServicesJobIsLeftToTheServiceAndCancelledByHand) {
  StartHoned();
  ASSERT_EQ(Hone({"job", "submit", "mlp.onnx", "--db", "hone.db", "--target", "native"}).exit_code,
            0);
  honed_.reset();
  const Finished tuned = Hone(Tune("2"));
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("1 unfinished jobs of honed are left for it to go on with"));
  EXPECT_FALSE(HasEnded(Open()->GetJob(1)->state));
  EXPECT_EQ(Open()->GetJob(2)->state, JobState::kDone);

  const json jobs = HoneJson({"job", "list", "--db", "hone.db"});
  ASSERT_EQ(jobs["jobs"].size(), 1);
  EXPECT_EQ(jobs["jobs"][0]["job"], 1);
  EXPECT_EQ(jobs["jobs"][0]["private"], false);
  EXPECT_EQ(jobs["server"], "");
  EXPECT_EQ(jobs["database"], "hone.db");
  const json all = HoneJson({"job", "list", "--all", "--db", "hone.db"})["jobs"];
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0]["job"], 2) << "newest first";
  EXPECT_EQ(Hone({"job", "cancel", "1", "--db", "hone.db"}).exit_code, 0);
  EXPECT_EQ(Hone({"job", "cancel", "2", "--db", "hone.db"}).exit_code, 7) << "it has ended";
  EXPECT_EQ(Hone({"job", "cancel", "3", "--db", "hone.db"}).exit_code, 3);
  EXPECT_TRUE(UnfinishedJobs().empty());
  EXPECT_THAT(Hone({"job", "show", "1", "--db", "hone.db"}).out, HasSubstr("cancelled"));
}

TEST_F(PrivateJobs, OfANamedDatabaseThatIsNotThereAreBadInput) {
  EXPECT_EQ(Hone({"job", "list", "--db", "no.db"}).exit_code, 3);
  EXPECT_EQ(Hone({"job", "show", "1"}).exit_code, 3);
  EXPECT_TRUE(HoneJson({"job", "list"})["jobs"].empty()) << "the default one counts as empty";
}

}  // namespace
}  // namespace hone::cli
