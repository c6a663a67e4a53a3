// A running honed from the command line: its workers, and jobs that nobody waits for.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/child_process.h"
#include "tests/cli/farm_fixture.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Server : public FarmAtASocket {};

TEST_F(Server, ADrainedWorkerFinishesAndLeaves) {
  StartHoned();
  EXPECT_TRUE(WorkerNames().empty());
  StartWorker("bench-1");
  const json shown = Hone({"worker", "show", "bench-1"})["worker"];
  EXPECT_EQ(shown["worker"], "bench-1");
  EXPECT_EQ(shown["state"], "idle");
  ASSERT_EQ(shown["devices"].size(), 1);
  EXPECT_EQ(shown["devices"][0]["threads"], 1);
  EXPECT_THAT(shown["devices"][0]["target"].get<std::string>(), HasSubstr("-threads=1"));
  EXPECT_EQ(shown["protocol"], 3);
  EXPECT_EQ(shown["identity"], "uid:" + std::to_string(geteuid()));
  const json& device = shown["devices"][0];
  EXPECT_EQ(device["kind"], "cpu");
  EXPECT_EQ(device["sandbox"], "strict");
  EXPECT_EQ(device["window"], 3);
  EXPECT_EQ(device["running_fence"], 0);
  EXPECT_EQ(device["losses"], 0);
  EXPECT_EQ(device["rest_s"], 0);
  EXPECT_EQ(device["away"], false);
  EXPECT_EQ(device["barred"], "");
  EXPECT_GT(device["calibrator_us"], 0);
  EXPECT_GE(device["calibrated_s"], 0);
  EXPECT_EQ(device["tally"]["failure_rate"], 0);
  EXPECT_TRUE(device["leases"].empty());
  ASSERT_EQ(device["calibration_history"].size(), 1);
  EXPECT_EQ(device["calibration_history"][0]["calibrator_us"], device["calibrator_us"]);
  EXPECT_GE(device["calibration_history"][0]["calibrations"][0]["spread"], 0);
  const Finished page = RunHone({"worker", "show", "bench-1"}, folder_.path());
  EXPECT_THAT(page.out, HasSubstr("protocol 3"));
  EXPECT_THAT(page.out, HasSubstr("0 of 3 leases"));
  EXPECT_THAT(RunHone({"worker", "list"}, folder_.path()).out, HasSubstr("0/3"));

  EXPECT_EQ(RunHone({"worker", "drain", "bench-1"}, folder_.path()).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return workers_["bench-1"]->HasEnded(); }));
  EXPECT_TRUE(Eventually([&] { return WorkerNames().empty(); }));
  const Finished nobody = RunHone({"worker", "drain", "bench-1"}, folder_.path());
  EXPECT_EQ(nobody.exit_code, 3);
  EXPECT_THAT(nobody.err, HasSubstr("hone worker list"));
}

TEST_F(Server, AQuarantineSurvivesARestartAndEndsWithARelease) {
  StartHoned();
  StartWorker("bench-1");
  const Finished put =
      RunHone({"worker", "quarantine", "bench-1", "--reason", "a new\n\"fan\""}, folder_.path());
  EXPECT_EQ(put.exit_code, 0) << put.err;
  EXPECT_THAT(put.out, HasSubstr("hone worker release"));
  EXPECT_EQ(RunHone({"worker", "quarantine", "bench-1"}, folder_.path()).exit_code, 2);
  honed_.reset();
  StartHoned();
  ASSERT_TRUE(Eventually([&] { return WorkerNames().contains("bench-1"); }));
  const json shown = Hone({"worker", "show", "bench-1"})["worker"];
  EXPECT_EQ(shown["state"], "quarantined");
  ASSERT_EQ(shown["quarantines"].size(), 1);
  EXPECT_EQ(shown["quarantines"][0]["reason"], "a new\n\"fan\"");
  EXPECT_EQ(shown["quarantines"][0]["device"], "");
  EXPECT_FALSE(shown["quarantines"][0]["by"].get<std::string>().empty());
  EXPECT_THAT(RunHone({"worker", "show", "bench-1"}, folder_.path()).out,
              HasSubstr("in quarantine, by"));
  const Finished released = RunHone({"worker", "release", "bench-1"}, folder_.path());
  EXPECT_EQ(released.exit_code, 0) << released.err;
  EXPECT_EQ(Hone({"worker", "show", "bench-1"})["worker"]["state"], "idle");
  EXPECT_EQ(RunHone({"worker", "release", "bench-1"}, folder_.path()).exit_code, 3);
  // One that is not connected is put aside all the same.
  EXPECT_EQ(RunHone({"worker", "quarantine", "bench-2", "--device", "cpu0", "--reason", "x"},
                    folder_.path())
                .exit_code,
            0);
  const json listed = Hone({"worker", "list"})["quarantines"];
  ASSERT_EQ(listed.size(), 1);
  EXPECT_EQ(listed[0]["worker"], "bench-2");
  EXPECT_EQ(listed[0]["device"], "cpu0");
  const Finished undrained = RunHone({"worker", "undrain", "bench-1"}, folder_.path());
  EXPECT_EQ(undrained.exit_code, 7);
  EXPECT_THAT(undrained.err, HasSubstr("does not"));
}

TEST_F(Server, ASecondWorkerOfOneNameLeavesAndTheFirstStays) {
  StartHoned();
  StartWorker("bench-1");
  const json first = Hone({"worker", "show", "bench-1"})["worker"];
  auto second = ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--name", "bench-1"});
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE(Eventually([&] { return second->HasEnded(); }));
  EXPECT_EQ(WEXITSTATUS(second->Stop(0)), 7);
  const json after = Hone({"worker", "show", "bench-1"})["worker"];
  EXPECT_EQ(after["instance"], first["instance"]);
  EXPECT_FALSE(workers_["bench-1"]->HasEnded());
  // One that is started again under its name is let in, however fast it is.
  workers_.erase("bench-1");
  StartWorker("bench-1");
  EXPECT_NE(Hone({"worker", "show", "bench-1"})["worker"]["instance"], first["instance"]);
}

TEST_F(Server, ASubmittedJobIsForTheFarmsOnlyTargetAndIsListedAndShown) {
  StartHoned();
  StartWorker("bench-1");
  const json submitted = Hone({"job", "submit", "mlp.onnx", "--trials", "2", "--full-budget"});
  EXPECT_EQ(submitted["job"], 1);
  EXPECT_THAT(submitted["target"].get<std::string>(), HasSubstr("-threads=1"));
  EXPECT_EQ(RunHone({"job", "watch", "1"}, folder_.path()).exit_code, 0);

  EXPECT_TRUE(Hone({"job", "list"})["jobs"].empty()) << "it has ended";
  const json jobs = Hone({"job", "list", "--all"})["jobs"];
  ASSERT_EQ(jobs.size(), 1);
  EXPECT_EQ(jobs[0]["state"], "done");
  EXPECT_EQ(jobs[0]["model"], "mlp.onnx");
  EXPECT_EQ(jobs[0]["done"], jobs[0]["budget"]);
  const json shown = Hone({"job", "show", "1"});
  EXPECT_EQ(shown["tasks"].size(), submitted["kernels"]);
  for (const json& task : shown["tasks"]) EXPECT_EQ(task["trials"], 2) << task;
  const Finished table = RunHone({"job", "show", "1", "--db", "hone.db"}, folder_.path());
  EXPECT_THAT(table.out, HasSubstr("mlp.onnx"));
  EXPECT_EQ(RunHone({"job", "show", "2"}, folder_.path()).exit_code, 3);
}

TEST_F(Server, SeveralTargetsAreTunedAtOnceAJobOfEach) {
  StartHoned();
  StartWorker("bench-1");
  StartWorker("bench-2", "2");
  const std::string server = "unix:" + (folder_ / "hone/honed.sock");
  const std::vector<std::string> both = {
      "mlp.onnx",       "--target", "native -threads=1", "--target", "native -threads=2",
      "--trials",       "2",        "--full-budget",     "--server", server,
      "--device-class", "kind=cpu", "--sandbox",         "strict"};
  std::vector<std::string> tune = {"tune", "--micro-kernels", "never", "--json"};
  tune.insert(tune.end(), both.begin(), both.end());
  const Finished tuned = RunHone(tune, folder_.path());
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("[target 1] llvm"));
  EXPECT_THAT(tuned.err, HasSubstr("[target 2] llvm"));
  const json results = json::parse(tuned.out)["results"];
  ASSERT_EQ(results.size(), 2);
  for (const json& result : results) {
    EXPECT_EQ(result["exit_code"], 0);
    EXPECT_FALSE(result["tasks"].empty());
  }
  EXPECT_THAT(results[0]["target"].get<std::string>(), HasSubstr("-threads=1"));
  EXPECT_THAT(results[1]["target"].get<std::string>(), HasSubstr("-threads=2"));

  std::vector<std::string> submit = {"job", "submit", "--client-id", "mine"};
  submit.insert(submit.end(), both.begin(), both.end());
  const json jobs = Hone(submit)["jobs"];
  ASSERT_EQ(jobs.size(), 2);
  EXPECT_NE(jobs[0]["job"], jobs[1]["job"]);
  EXPECT_EQ(Hone(submit)["jobs"], jobs)
      << "the same again starts nothing, whatever is measured by now";
  const json shown = Hone({"job", "show", std::to_string(jobs[0]["job"].get<int>())});
  EXPECT_EQ(shown["sandbox"], "strict");
  EXPECT_EQ(shown["device_class"], "kind=cpu");

  const auto count = [&](std::vector<std::string> filters) {
    std::vector<std::string> list = {"job", "list", "--all", "--server", server};
    list.insert(list.end(), filters.begin(), filters.end());
    return Hone(list)["jobs"].size();
  };
  const size_t all = count({});
  EXPECT_GE(all, 4);
  EXPECT_EQ(count({"--target", "-threads=1"}) + count({"--target", "-threads=2"}), all);
  EXPECT_EQ(count({"--model", "mlp"}), all);
  EXPECT_EQ(count({"--model", "bert"}), 0);
  EXPECT_EQ(count({"--since", "1h"}), all);
  EXPECT_EQ(count({"--since", "2100-01-01"}), 0);
  EXPECT_EQ(count({"--limit", "1"}), 1);
  honed_->Stop(30 * kSecondNs);
  const std::string database = folder_ / "hone.db";
  EXPECT_EQ(Hone({"job", "list", "--all", "--db", database, "--target", "-threads=1", "--limit",
                  "1"})["jobs"]
                .size(),
            1);
}

TEST_F(Server, WhatOnlyAServersDevicesCanMeetNeedsAServer) {
  const auto refused = [&](const std::vector<std::string>& flags, const std::string& sentence) {
    std::vector<std::string> args = {"tune", "mlp.onnx", "--db", folder_ / "own.db"};
    args.insert(args.end(), flags.begin(), flags.end());
    const Finished finished = RunHone(args, folder_.path());
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr(sentence));
  };
  refused({"--target", "native -threads=1", "--target", "native -threads=2"},
          "expected --server with several --target");
  refused({"--target", "native -threads=1", "--target", "native -threads=1"},
          "expected every --target once");
  refused({"--sandbox", "strict"}, "expected --server with --sandbox");
  refused({"--sandbox", "none"}, "--sandbox");
  refused({"--device-class", "name=znver5"}, "expected --server with --device-class");
  refused({"--device-class", "zen"}, "expected a class of devices such as kind=cpu");
  const Finished since = RunHone({"job", "list", "--since", "soon"}, folder_.path());
  EXPECT_EQ(since.exit_code, 2);
  EXPECT_THAT(since.err, HasSubstr("found 'soon'"));
}

TEST_F(Server, WithoutATargetAServerNeedsWorkersOfOneTarget) {
  StartHoned();
  const std::string server = "unix:" + (folder_ / "hone/honed.sock");
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"tune"}, std::vector<std::string>{"job", "submit"}}) {
    std::vector<std::string> args = verb;
    args.insert(args.end(), {"mlp.onnx", "--server", server});
    const Finished finished = RunHone(args, folder_.path());
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr("--target"));
  }
  EXPECT_TRUE(Hone({"job", "list", "--all"})["jobs"].empty());
}

TEST_F(Server, ThatIsNotThereIsUnreachable) {
  EXPECT_EQ(RunHone({"worker", "list"}, folder_.path()).exit_code, 5);
  EXPECT_EQ(RunHone({"job", "submit", "mlp.onnx"}, folder_.path()).exit_code, 5);
  for (const char* const noun : {"worker", "job"}) {
    const std::vector<std::string> named = {noun, "list", "--server", "unix:" + (folder_ / "no")};
    EXPECT_EQ(RunHone(named, folder_.path()).exit_code, 5);
  }
}

}  // namespace
}  // namespace hone::cli
