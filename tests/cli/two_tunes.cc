#include "tests/cli/two_tunes.h"

#include <signal.h>
#include <stdlib.h>

#include <array>
#include <chrono>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/cli/processes.h"
#include "tests/cli/run_hone.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGKILL};

// What it measured is in the report of the tune that went on.
void ExpectTuned(const Finished& finished) {
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json document = json::parse(finished.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(document.value("tasks", json::array()).empty()) << finished.out;
  for (const json& task : document["tasks"]) {
    EXPECT_GT(task["best_us"], 0) << task;
    EXPECT_GT(task["default_us"], 0) << task;
  }
}

void ExpectNothingIsLeft(const TestFolder& folder) {
  EXPECT_TRUE(Eventually([&] { return ProcessesNaming(folder / "run").empty(); }));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "run")) << "a socket is left";
  const json listed = RunHoneJson({"job", "list", "--db", "hone.db"}, folder.path());
  EXPECT_TRUE(listed["jobs"].empty()) << listed;
  const auto store =
      tuning_db::OpenSqliteStore(folder / "hone.db", tuning_db::OpenMode::kReadOnly).value();
  const std::vector<tuning_db::Job> jobs = store->Jobs().value();
  for (const tuning_db::Job& job : jobs) {
    EXPECT_TRUE(tuning_db::HasEnded(job.state)) << "job " << job.id;
  }
  EXPECT_THAT(store->OpenTrials(0).value(), IsEmpty());
  EXPECT_THAT(store->Check().value(), IsEmpty());
}

}  // namespace

void KillOneOfTwoTunes(int rounds, uint64_t seed) {
  TestFolder folder;
  std::filesystem::create_directory(folder / "run");
  setenv("XDG_RUNTIME_DIR", (folder / "run").c_str(), 1);
  ASSERT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder.path()).exit_code, 0);
  Random random(seed);
  uint64_t longest_ms = 2000;  // of a round; moments are drawn from it
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    // Each round has something to do.
    const std::string trials = std::to_string(2 * (round + 1));
    const std::vector<std::string> args = {
        "tune", "mlp.onnx",        "--db",  "hone.db", "--trials", trials, "--threads",
        "1",    "--micro-kernels", "never", "--json"};
    const auto start = std::chrono::steady_clock::now();
    std::array tunes = {std::make_unique<RunningHone>(args, folder.path()),
                        std::make_unique<RunningHone>(args, folder.path())};
    const uint64_t victim = random.Below(2);
    const int signal = kSignals[static_cast<size_t>(round) % kSignals.size()];
    const auto moment = std::chrono::milliseconds(random.Below(longest_ms));
    std::this_thread::sleep_for(moment);
    tunes[victim]->Send(signal);
    const Finished killed = tunes[victim]->Finish();
    SCOPED_TRACE(testing::Message()
                 << "round " << round << ": signal " << signal << " to tune " << victim << " after "
                 << moment.count() << " ms, its end " << killed.exit_code << ": " << killed.err);
    ExpectTuned(tunes[1 - victim]->Finish());
    ExpectNothingIsLeft(folder);
    longest_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::steady_clock::now() - start)
                     .count();
  }
  unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace hone::cli
