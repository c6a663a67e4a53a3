// Tests of farms from the command line: each in a folder of its own.
#ifndef HONE_TESTS_CLI_FARM_FIXTURE_H_
#define HONE_TESTS_CLI_FARM_FIXTURE_H_

#include <stdlib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/child_process.h"
#include "support/clock.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {

// It holds mlp.onnx, and is where sockets are by default.
class OwnFolder : public ::testing::Test {
 protected:
  OwnFolder() {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
    setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    EXPECT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
  }
  ~OwnFolder() override { unsetenv("XDG_RUNTIME_DIR"); }

  nlohmann::json Hone(std::vector<std::string> args) {
    return RunHoneJson(std::move(args), folder_.path());
  }

  TestFolder folder_;
};

// A honed at the default socket, and its workers.
class FarmAtASocket : public OwnFolder {
 protected:
  void StartHoned() {
    auto child = ChildProcess::Start({HONE_BIN_DIR "/honed", "--db", folder_ / "hone.db"});
    ASSERT_TRUE(child.ok()) << child.status();
    honed_ = std::make_unique<ChildProcess>(*std::move(child));
    ASSERT_TRUE(honed_->ReadLine(30 * kSecondNs).ok());
  }
  void StartWorker(const std::string& name, const std::string& threads = "1") {
    auto child =
        ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--name", name, "--threads", threads});
    ASSERT_TRUE(child.ok()) << child.status();
    workers_[name] = std::make_unique<ChildProcess>(*std::move(child));
    ASSERT_TRUE(Eventually([&] { return WorkerNames().contains(name); }));
  }
  std::set<std::string> WorkerNames() {
    std::set<std::string> names;
    const nlohmann::json workers = Hone({"worker", "list"})["workers"];
    for (const nlohmann::json& worker : workers) names.insert(worker["worker"]);
    return names;
  }

  std::unique_ptr<ChildProcess> honed_;
  std::map<std::string, std::unique_ptr<ChildProcess>> workers_;  // by name
};

}  // namespace hone::cli

#endif  // HONE_TESTS_CLI_FARM_FIXTURE_H_
