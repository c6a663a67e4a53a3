// A honed that serves a network, its workers and its clients, each with a join string of its own.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

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
using ::testing::Not;

class Network : public OwnFolder {
 protected:
  // At a port of the system's choice, for which the identity's names hold as well.
  void StartHoned() {
    auto init = ChildProcess::Start({HONE_BIN_DIR "/honed", "init", "--tls", folder_ / "tls",
                                     "--db", folder_ / "hone.db", "--address", "localhost:1"});
    ASSERT_TRUE(init.ok()) << init.status();
    std::string join = init->ReadLine(30 * kSecondNs).value();
    ASSERT_TRUE(Eventually([&] { return init->HasEnded(); }));
    EXPECT_EQ(WEXITSTATUS(init->Stop(0)), 0);
    Serve("localhost:0");
    WriteJoin("admin", join);
  }
  void Serve(const std::string& listen) {
    honed_.reset();
    auto child =
        ChildProcess::Start({HONE_BIN_DIR "/honed", "--db", folder_ / "hone.db", "--listen", listen,
                             "--tls", folder_ / "tls", "--audit-log", folder_ / "audit"});
    ASSERT_TRUE(child.ok()) << child.status();
    honed_ = std::make_unique<ChildProcess>(*std::move(child));
    const std::string ready = honed_->ReadLine(30 * kSecondNs).value();
    port_ = ready.substr(ready.rfind(':'));
  }
  void WriteJoin(const std::string& name, std::string join) {
    const size_t begin = std::string("hone://").size();
    join.replace(begin, join.find('?') - begin, "localhost" + port_);
    const std::string path = folder_ / (name + ".join");
    std::ofstream(path) << join << "\n";
    std::filesystem::permissions(
        path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  std::string At(const std::string& name) { return "@" + (folder_ / (name + ".join")); }
  void Grant(const std::string& name, const std::string& role) {
    WriteJoin(name, Hone({"auth", "add", name, "--role", role, "--server", At("admin")})["secret"]);
  }
  Finished Run(std::vector<std::string> args) { return RunHone(std::move(args), folder_.path()); }
  std::string AuditLog() {
    std::ifstream file(folder_ / "audit");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::unique_ptr<ChildProcess> honed_;
  std::unique_ptr<ChildProcess> worker_;
  std::string port_;  // ":4711"
};

TEST_F(Network, AModelIsTunedFromAnotherPlaceByAWorkerOfAThird) {
  StartHoned();
  Grant("board-7", "work");
  Grant("ann", "submit");
  Grant("rita", "read");
  auto worker = ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--join", At("board-7"),
                                     "--name", "bench-1", "--threads", "1"});
  ASSERT_TRUE(worker.ok()) << worker.status();
  worker_ = std::make_unique<ChildProcess>(*std::move(worker));
  ASSERT_TRUE(Eventually(
      [&] { return Hone({"worker", "list", "--server", At("rita")})["workers"].size() == 1; }));
  EXPECT_EQ(Hone({"worker", "show", "bench-1", "--server", At("rita")})["worker"]["identity"],
            "grant:board-7");

  const Finished tuned =
      Run({"tune", "mlp.onnx", "--trials", "2", "--full-budget", "--server", At("ann")});
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  const json local = Hone({"compile", "mlp.onnx", "-o", "local.so", "--threads", "1"});
  const json remote =
      Hone({"compile", "mlp.onnx", "-o", "remote.so", "--threads", "1", "--server", At("rita")});
  const json here =
      Hone({"compile", "mlp.onnx", "-o", "here.so", "--threads", "1", "--db", folder_ / "hone.db"});
  EXPECT_EQ(remote["kernels"], here["kernels"]) << "what the daemon says is what the database has";
  EXPECT_GT(remote["counts"]["tuning"], 0);
  EXPECT_EQ(local["counts"]["default"], local["kernels"].size());

  const json jobs = Hone({"job", "list", "--all", "--server", At("rita")})["jobs"];
  ASSERT_EQ(jobs.size(), 1);
  EXPECT_EQ(jobs[0]["submitter"], "ann");
  EXPECT_EQ(jobs[0]["state"], "done");

  const Finished refused = Run({"job", "cancel", "1", "--server", At("rita")});
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_THAT(refused.err, HasSubstr("\"rita\" has the role read, which may not cancel jobs"));
  EXPECT_EQ(Run({"auth", "revoke", "board-7", "--server", At("admin")}).exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return worker_->HasEnded(); })) << "it is put out";
  EXPECT_EQ(WEXITSTATUS(worker_->Stop(0)), 6);

  const std::string audit = AuditLog();
  EXPECT_THAT(audit, HasSubstr("\"caller\":\"ann\""));
  EXPECT_THAT(audit, HasSubstr("\"method\":\"/hone.v1.TuningService/SubmitJob\""));
  EXPECT_THAT(audit, HasSubstr("PERMISSION_DENIED"));
  EXPECT_THAT(audit, Not(HasSubstr("ListJobs")));
  EXPECT_THAT(audit, Not(HasSubstr("hone_"))) << "no token is in it";
}

TEST_F(Network, AWatchOutlivesARestartOfTheDaemon) {
  StartHoned();
  Grant("ann", "submit");
  RunningHone watch({"tune", "mlp.onnx", "--trials", "2", "--target", "native", "--micro-kernels",
                     "never", "--server", At("ann")},
                    folder_.path());
  ASSERT_TRUE(Eventually([&] { return watch.Err().find("job 1 waits") != std::string::npos; }))
      << watch.Err();
  kill(honed_->pid(), SIGKILL);
  ASSERT_TRUE(Eventually([&] { return honed_->HasEnded(); }));
  ASSERT_TRUE(Eventually([&] {
    return watch.Err().find("the daemon is away; job 1 goes on once it is back") !=
           std::string::npos;
  })) << watch.Err();
  Serve("localhost" + port_);
  ASSERT_TRUE(Eventually([&] {
    return watch.Err().find("the daemon is back") != std::string::npos;
  })) << watch.Err();
  const Finished cancelled = Run({"job", "cancel", "1", "--server", At("ann")});
  ASSERT_EQ(cancelled.exit_code, 0) << cancelled.err;
  ASSERT_TRUE(Eventually([&] { return watch.HasEnded(); })) << watch.Err();
  EXPECT_EQ(watch.Finish().exit_code, 8);
}

TEST_F(Network, AWatchWhoseTokenIsRevokedSaysSo) {
  StartHoned();
  Grant("ann", "submit");
  RunningHone watch({"tune", "mlp.onnx", "--trials", "2", "--target", "native", "--micro-kernels",
                     "never", "--server", At("ann")},
                    folder_.path());
  ASSERT_TRUE(Eventually([&] { return watch.Err().find("job 1 waits") != std::string::npos; }))
      << watch.Err();
  EXPECT_EQ(Run({"auth", "revoke", "ann", "--server", At("admin")}).exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return watch.HasEnded(); })) << watch.Err();
  EXPECT_THAT(watch.Err(), HasSubstr("was revoked"));
  EXPECT_EQ(watch.Finish().exit_code, 6);
}

TEST_F(Network, TheServersOwnUserLetsOthersInWithoutAToken) {
  StartHoned();
  const json added =
      Hone({"auth", "add", "ann", "--role", "submit", "--days", "2", "--db", folder_ / "hone.db"});
  EXPECT_THAT(added["secret"].get<std::string>(), HasSubstr("hone://"));
  EXPECT_EQ(added["grant"]["role"], "submit");
  const json grants = Hone({"auth", "list", "--db", folder_ / "hone.db"})["grants"];
  ASSERT_EQ(grants.size(), 2);
  EXPECT_EQ(grants[0]["name"], "admin");
  EXPECT_EQ(grants[1]["holds"], true);
  const Finished again = Run({"auth", "add", "ann", "--role", "read", "--db", folder_ / "hone.db"});
  EXPECT_NE(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("has a grant already"));
  const Finished nobody = Run({"auth", "revoke", "bob", "--db", folder_ / "hone.db"});
  EXPECT_EQ(nobody.exit_code, 3);
}

TEST_F(Network, WhoIsLetInIsToldWhatDialsWithHisRole) {
  StartHoned();
  const auto told = [&](const std::string& role) {
    return Run({"auth", "add", role, "--role", role, "--server", At("admin"), "--output", role})
        .out;
  };
  EXPECT_THAT(told("work"), HasSubstr("hone-measure --join @work dials"));
  EXPECT_THAT(told("read"), Not(HasSubstr("hone-measure")));
  EXPECT_THAT(told("submit"), HasSubstr("HONE_SERVER=@submit hone job list dials"));
}

TEST_F(Network, GrantsAreMadeWhereNoHonedRuns) {
  StartHoned();
  honed_->Stop(30 * kSecondNs);
  const Finished added = Run({"auth", "add", "ann", "--role", "read", "--db", folder_ / "hone.db",
                              "--output", "ann.token"});
  EXPECT_EQ(added.exit_code, 0) << added.err;
  EXPECT_THAT(added.out, Not(HasSubstr("dials"))) << "a token is no join string";
  EXPECT_EQ(Hone({"auth", "list", "--db", folder_ / "hone.db"})["grants"].size(), 2);
}

TEST_F(Network, WhatIsNoAddressOrSecretIsRefusedInASentence) {
  const auto code = [&](const std::string& server) {
    const Finished run = Run({"job", "list", "--server", server});
    EXPECT_THAT(run.err, Not(HasSubstr("token=s"))) << run.err;
    return run.exit_code;
  };
  const std::string digest(64, 'a');
  EXPECT_EQ(code("localhost:7070"), 3);
  EXPECT_EQ(code("hone://localhost?certificate=" + digest + "&token=s"), 3);
  EXPECT_EQ(code("hone://localhost:1?certificate=" + digest + "&token=s"), 5) << "nobody is there";
  EXPECT_EQ(code("@" + (folder_ / "none")), 3);
  std::ofstream(folder_ / "open") << "unix:/x";
  std::filesystem::permissions(folder_ / "open", std::filesystem::perms::all);
  EXPECT_EQ(code("@" + (folder_ / "open")), 6);
}

}  // namespace
}  // namespace hone::cli
